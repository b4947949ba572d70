# SPDX-License-Identifier: MIT
# Completion of nvrtccache for bash: installed as share/bash-completion/completions/nvrtccache.
#
# The commands and options are what `nvrtccache help` and `nvrtccache COMMAND --help` print, so that they are always those
# of the command that is there. Words behind an option are chosen by how its help names them: used|saved|size are words,
# FILE is a file, DIR a directory.
# shellcheck shell=bash disable=SC2207 # words, of which none holds a blank

# "  -j, --json   ..." and "      --sort used|saved|size   ...": the option, and how its value is named
_nvrtccache_options() { # COMMAND-NAME COMMAND
	"$1" "$2" --help 2>/dev/null | sed -nE '/^Options:/,/^$/s/^  (-.,|   ) (--[a-z-]+)( ([^ ]+))?( .*)?$/\2 \4/p'
}

_nvrtccache() {
	local command=$1 current=$2 verb='' name value at=1
	COMPREPLY=()
	while [ "$at" -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[at]} in
		-*) ;;
		*) verb=${COMP_WORDS[at]} && break ;;
		esac
		at=$((at + 1))
	done
	if [ -z "$verb" ]; then
		COMPREPLY=($(compgen -W "$("$command" help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z-]+) .*/\1/p') --help --version" -- "$current"))
		return
	fi
	# behind run and doctor stands another command line
	if [ "$verb" = run ] || [ "$verb" = doctor ]; then
		local i
		for ((i = at + 1; i < COMP_CWORD; i++)); do
			[ "${COMP_WORDS[i]}" = -- ] && break
			case ${COMP_WORDS[i]} in
			-*) ;;
			*) [[ ${COMP_WORDS[i - 1]} == --* && -n $(_nvrtccache_options "$command" "$verb" | sed -n "s/^${COMP_WORDS[i - 1]} \(..*\)/\1/p") ]] || break ;;
			esac
		done
		if [ "$i" -lt "$COMP_CWORD" ]; then
			if declare -F _command_offset >/dev/null; then
				[ "${COMP_WORDS[i]}" = -- ] && i=$((i + 1))
				_command_offset "$i"
			else
				COMPREPLY=($(compgen -o default -- "$current"))
			fi
			return
		fi
	fi
	while read -r name value; do
		if [ -n "$value" ] && [ "$name" = "${COMP_WORDS[COMP_CWORD - 1]}" ]; then
			case $value in
			*'|'*) COMPREPLY=($(compgen -W "${value//|/ }" -- "$current")) ;;
			DIR) COMPREPLY=($(compgen -d -- "$current")) ;;
			FILE) COMPREPLY=($(compgen -f -- "$current")) ;;
			esac
			return
		fi
	done < <(_nvrtccache_options "$command" "$verb")
	case $verb,$current in
	*,-*) COMPREPLY=($(compgen -W "$(_nvrtccache_options "$command" "$verb" | sed 's/ .*//')" -- "$current")) ;;
	help,*) COMPREPLY=($(compgen -W "$("$command" help 2>/dev/null | sed -nE '/^Commands:/,/^$/s/^  ([a-z-]+) .*/\1/p')" -- "$current")) ;;
	run,* | doctor,*) COMPREPLY=($(compgen -c -- "$current")) ;;
	show,* | extract,* | explain,*) COMPREPLY=($(compgen -W "$("$command" ls 2>/dev/null | sed -nE 's/^([0-9a-f]{8}) .*/\1/p')" -- "$current")) ;;
	export,* | import,* | report,*) COMPREPLY=($(compgen -f -- "$current")) ;;
	esac
}

complete -o bashdefault -o default -F _nvrtccache nvrtccache
