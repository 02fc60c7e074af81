# SPDX-License-Identifier: MIT OR Apache-2.0
# Completion of gsort for bash.
_gsort() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="sort merge count argsort rank topk min max median percentile sum mean scan info help version"
  local options="--reverse --descending --unique --check --check-quiet --merge --nan-last --k --smallest --percentiles
    --numeric-sort --general-numeric-sort --stable --ignore-leading-blanks --key --field-separator --skip-blank --comments
    --hex --type --format --input-format --output-format --axis --output --memory --buffer-size --temporary-directory --threads
    --parallel --backend --progress --help --version"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
    return
  fi
  case $before in
    --type) mapfile -t COMPREPLY < <(compgen -W "u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64" -- "$word") ;;
    -f | --format | --input-format | --output-format) mapfile -t COMPREPLY < <(compgen -W "npy raw text" -- "$word") ;;
    --backend) mapfile -t COMPREPLY < <(compgen -W "auto cpu cuda" -- "$word") ;;
    --progress) mapfile -t COMPREPLY < <(compgen -W "auto on off" -- "$word") ;;
    --axis) mapfile -t COMPREPLY < <(compgen -W "0 1 -1 none" -- "$word") ;;
    -T | --temporary-directory) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    --k | -p | --percentiles | --key | -k | -t | --field-separator | '-#' | --comments | -S | --memory | --buffer-size | \
      --threads | --parallel) ;;
    *)
      case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
      esac
      ;;
  esac
}
complete -o filenames -F _gsort gsort
