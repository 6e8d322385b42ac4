# What both shims do; sourced by bin/grep and bin/rg, which set `name`, `self` and `bin`. POSIX sh: dash, bash, busybox, zsh.
# slicegrep's shim finds the real tool, becomes it where no line numbers are asked for, and lets Python decide the rest.

# ---- The real tool ---------------------------------------------------------------------------------------------

# Is the file this shim, or another copy of it? Sets `script` where it is a script at all.
is_shim() {
  script=''
  [ "$1" -ef "$self" ] && return
  IFS= read -r first <"$1" || return
  case $first in
  '#!'*) script=yes ;;
  *) return 1 ;;
  esac
  { read -r first && IFS= read -r first; } <"$1"
  case $first in
  "# slicegrep's shim"*) ;;
  *) return 1 ;;
  esac
} 2>/dev/null

# Set `real` to the first program of that name on PATH that is neither a shim nor a script that led back here.
find_on_path() {
  path=$PATH:
  real=''
  IFS=:
  set -f
  for folder in $path; do
    candidate=${folder:-.}/$1
    [ -f "$candidate" ] && [ -x "$candidate" ] || continue
    case :${SLICEGREP_SHIM_PASSED-}: in
    *":$candidate:"*) continue ;;
    esac
    is_shim "$candidate" && continue
    real=$candidate
    break
  done
  set +f
  unset IFS
  [ -n "$real" ]
}

find_real() {
  case $name in
  grep) forced=${SLICEGREP_GREP_REAL:-${LOOM_GREP_REAL-}} ;;
  *) forced=${SLICEGREP_RG_REAL:-${LOOM_RG_REAL-}} ;;
  esac
  case $forced in
  '') ;;
  */*)
    real=$forced
    [ -f "$real" ] && [ -x "$real" ] || not_found "$real"
    is_shim "$real" || return 0
    ;;
  *) find_on_path "$forced" && return ;;
  esac
  find_on_path "$name" && return
  not_found "$name"
}

not_found() {
  echo "$1: command not found" >&2
  exit 127
}

# A script may look for the tool on PATH again, and find this shim.
remember_script() {
  [ -z "$script" ] || export SLICEGREP_SHIM_PASSED="${SLICEGREP_SHIM_PASSED:+$SLICEGREP_SHIM_PASSED:}$real"
}

# GNU grep says in its messages what it was called, so that name must stay bare. dash alone can only do that by way of
# PATH; rg calls itself rg, and hands PATH on to what it starts.
become_real() {
  remember_script
  if [ "$name" = grep ] && [ -z "$script" ]; then
    case ${BASH_VERSION-}${ZSH_VERSION-}${BB_ASH_VERSION-}${KSH_VERSION-} in
    '') PATH=${real%/*}/:$PATH exec "${real##*/}" "$@" ;;
    *) exec -a "${real##*/}" "$real" "$@" ;;
    esac
  fi
  exec "$real" "$@"
}

# ---- What can be decided without Python ------------------------------------------------------------------------

# Is there an argument that can ask for line numbers? Python decides exactly. (GNU's long options may be abbreviated.)
may_ask_for_numbers() {
  [ "$name" = grep ] || [ -z "${RIPGREP_CONFIG_PATH-}" ] || return 0
  for word in "$@"; do
    case $word in
    --line-n*) return 0 ;;
    --*) ;;
    -*n*) return 0 ;;
    esac
  done
  return 1
}

# Set `python` and `site` to the environment's. False while there is none: set-up may be at work on it.
interpreter() {
  home=${SLICEGREP_HOME-}
  case $home in
  /*) ;;
  '~/'*) home=${HOME:+$HOME/${home#'~/'}} ;; # settings files do not expand it
  *) home=${HOME:+$HOME/.slicegrep} ;;       # a relative one would be a folder in the project
  esac
  main=$bin/../../slicegrep/shim/__main__.py
  key='' python='' site=''
  IFS= read -r key <"$bin/../../requirements.key"
  key=${key%%[!A-Za-z0-9._-]*}
  ready=$home/env/$key/.ready
  [ -n "$key" ] && [ -n "$home" ] && [ -f "$ready" ] || return
  # Programs and byte code of somebody else's are not run.
  [ -O "$home" ] && [ -O "$ready" ] && { [ -O "$home/pyc" ] || [ ! -e "$home/pyc" ]; } || [ -n "${MSYSTEM-}" ] || return
  { IFS= read -r python && IFS= read -r site; } <"$ready"
  [ -x "$python" ] && [ -n "$site" ] && [ -f "$main" ]
} 2>/dev/null

# Python ignores SIGPIPE from its start on; whether it was ignored before only this process can tell it.
ignored_signals() {
  ignored=''
  [ -r /proc/self/status ] || return
  while read -r label ignored; do
    [ "$label" != SigIgn: ] || return
  done </proc/self/status
  ignored=''
}

find_real
case ${SLICEGREP_SHIM:-${LOOM_GREP_SHIM-}} in
0 | [Oo][Ff][Ff] | [Nn][Oo] | [Ff][Aa][Ll][Ss][Ee]) become_real "$@" ;;
esac
case :${SLICEGREP_SHIM_PASSED-}: in
*"/$name:"*) become_real "$@" ;; # a script led back here, so a shim is at work already
esac
may_ask_for_numbers "$@" && interpreter || become_real "$@"
ignored_signals
remember_script
# The folder for byte code is not for -X: what Python loads to start with would be kept there too, and a byte of that
# that was lost on a full disk would end every start.
exec "$python" -I -S "$main" "$home/pyc" "$site" "$name" "$real" "$ignored" "${LC_CTYPE+=}${LC_CTYPE-}" "$@"
