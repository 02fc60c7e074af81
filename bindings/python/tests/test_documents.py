# SPDX-License-Identifier: MIT OR Apache-2.0
"""Examples of docstrings, of the guide and of the READMEs do what they say; the type stubs name what there is."""

import ast
import contextlib
import doctest
import inspect
import io
import os
import re
import unittest

from support import gsort, numpy

PACKAGE = os.path.dirname(os.path.abspath(gsort.__file__))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


class Examples(unittest.TestCase):
    def run_examples(self, text, name, names):
        """Runs the examples of a text and returns how many there were."""
        test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
        said = io.StringIO()
        result = doctest.DocTestRunner(verbose=False).run(test, out=said.write, clear_globs=False)
        self.assertEqual(result.failed, 0, said.getvalue())
        return result.attempted

    def test_docstrings(self):
        documented = {name: getattr(gsort, name) for name in gsort.__all__}
        documented.update(module=gsort, info=gsort.Sorter.info)
        for name, thing in documented.items():
            with self.subTest(name=name):
                self.assertTrue(thing.__doc__)
                examples = self.run_examples(thing.__doc__, name, {"gsort": gsort, "numpy": numpy})
                if inspect.isfunction(thing):
                    self.assertGreater(examples, 0, f"{name} has no example")

    def test_every_function_says_what_it_takes_gives_and_raises(self):
        for name in gsort.__all__:
            thing = getattr(gsort, name)
            if inspect.isfunction(thing) and hasattr(gsort.Sorter, name):
                for word in ("Args", "Returns", "Raises:"):
                    self.assertIn(word, thing.__doc__, name)
                for parameter in inspect.signature(thing).parameters:
                    inherited = re.search(r"(as|As) in \w+\(\)", thing.__doc__)
                    self.assertTrue(
                        inherited or re.search(rf"\b{parameter}\b.*:", thing.__doc__), f"{name}: {parameter}"
                    )

    def test_the_guide(self):
        names = {}
        text = text_of("docs", "python.md")
        self.assertGreater(self.run_examples("\n".join(blocks(text)), "docs/python.md", names), 40)

    def test_the_guide_names_every_function_and_exception(self):
        text = text_of("docs", "python.md")
        for name in gsort.__all__:
            if name not in ("Info", "TopK", "version", "workspace_bytes"):
                self.assertRegex(text, rf"`[^`]*\b{name}\b[^`]*`", name)

    def test_programs_of_the_readmes(self):
        """Each prints what the comments behind its print() say."""
        found = 0
        for path in (("README.md",), ("bindings", "python", "README.md")):
            for program in blocks(text_of(*path)):
                if "import gsort" not in program:
                    continue
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    exec(compile(program, path[-1], "exec"), {})
                wanted = re.findall(r"^print\(.*\) +# (.*)$", program, re.MULTILINE)
                self.assertEqual(said.getvalue().splitlines(), wanted)
                self.assertTrue(wanted)
                found += 1
        self.assertEqual(found, 2)


class Stubs(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(PACKAGE, "__init__.pyi"), encoding="utf-8") as file:
            self.tree = ast.parse(file.read())

    @staticmethod
    def parameters_of(function):
        arguments = function.args
        names = [argument.arg for argument in arguments.args if argument.arg != "self"]
        defaults = [None] * (len(names) - len(arguments.defaults)) + [ast.literal_eval(d) for d in arguments.defaults]
        result = list(zip(names, defaults))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            result.append((argument.arg, ast.literal_eval(default)))
        return result

    def compare(self, function, real):
        signature = inspect.signature(real)
        found = [
            (name, None if parameter.default is parameter.empty else parameter.default)
            for name, parameter in signature.parameters.items()
            if name != "self" and parameter.kind is not parameter.VAR_POSITIONAL
        ]
        self.assertEqual(self.parameters_of(function), found, function.name)

    def test_functions(self):
        stubs = {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        real = {name for name in gsort.__all__ if inspect.isfunction(getattr(gsort, name))}
        self.assertEqual(set(stubs), real)
        for name, function in stubs.items():
            self.compare(function, getattr(gsort, name))

    def test_classes(self):
        stubs = {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}
        self.assertEqual(set(stubs), {name for name in gsort.__all__ if inspect.isclass(getattr(gsort, name))})
        methods = {node.name: node for node in stubs["Sorter"].body if isinstance(node, ast.FunctionDef)}
        public = {name for name in dir(gsort.Sorter) if not name.startswith("_")}
        self.assertEqual({name for name in methods if not name.startswith("_")}, public)
        for name, function in methods.items():
            if name != "info":
                self.compare(function, getattr(gsort.Sorter, name))
        for name in ("Info", "TopK"):
            fields = [node.target.id for node in stubs[name].body]
            self.assertEqual(fields, list(getattr(gsort, name)._fields))
        for name in stubs:
            bases = [base.id for base in stubs[name].bases]
            if name.endswith("Error"):
                self.assertEqual(bases, [base.__name__ for base in getattr(gsort, name).__bases__])

    def test_the_package_is_marked_as_typed(self):
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "py.typed")))
