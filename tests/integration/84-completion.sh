#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shell completion: what bash and zsh offer is what the command takes.
. "$(dirname "$0")/lib.sh"
completions=$(cd "$(dirname "$0")/../../completions" && pwd) || exit 1
export HOME=$tmp
cd "$tmp" || exit 1
PATH=$(dirname "$COMMAND"):$PATH
mkdir somewhere
touch bundle.nvb

mapfile -t verbs < <("$COMMAND" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
options_of() { "$COMMAND" "$1" --help | sed -nE '/^Options:/,/^$/s/^  (-.,|   ) (--[a-z-]+).*/\2/p' | sort; }

# What bash offers for words, the last of which is being typed: one a line, sorted.
offers() {
	bash --norc --noprofile -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_nvrtccache "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		[ "${#COMPREPLY[@]}" -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$completions/nvrtccache.bash" nvrtccache "$@" 2>"$tmp/complaints" | sort
	[ ! -s "$tmp/complaints" ] || { cat "$tmp/complaints" && return 1; }
}
same() { diff <(printf '%s\n' "$@" | sort) "$tmp/offers"; }

commands() {
	offers '' >"$tmp/offers" && same "${verbs[@]}" --help --version && offers st >"$tmp/offers" && same stats && offers --v >"$tmp/offers" && same --version &&
		offers help exp >"$tmp/offers" && grep -qx export "$tmp/offers" && ! grep -qxv 'exp.*' "$tmp/offers"
}
check "bash offers the commands that there are." commands

options() {
	local verb
	for verb in "${verbs[@]}"; do
		options_of "$verb" >"$tmp/wanted" && [ -s "$tmp/wanted" ] && offers "$verb" -- >"$tmp/offers" && diff "$tmp/wanted" "$tmp/offers" || { echo "of $verb" && return 1; }
	done
	offers ls --so >"$tmp/offers" && same --sort
}
check "bash offers the options of each command that its help shows, and no other." options

values() {
	offers ls --sort '' >"$tmp/offers" && same used saved size && offers ls --sort sa >"$tmp/offers" && same saved && offers export --directory some >"$tmp/offers" &&
		same somewhere && offers export --key-file bun >"$tmp/offers" && same bundle.nvb && offers export bun >"$tmp/offers" && same bundle.nvb &&
		offers prune --max-size '' >"$tmp/offers" && [ ! -s "$tmp/offers" ]
}
check "bash offers values: words, files and directories." values

programs() {
	offers run --cudnn seq >"$tmp/offers" && grep -qx seq "$tmp/offers" && offers run -- cat bun >"$tmp/offers" && same bundle.nvb &&
		offers run cat -- >"$tmp/offers" && ! grep -q cudnn "$tmp/offers" && offers doctor seq >"$tmp/offers" && grep -qx seq "$tmp/offers"
}
check "Behind run and doctor bash offers programs, and for their arguments what it offers by default." programs

registered() { bash --norc --noprofile -c '. "$1" && complete -p nvrtccache' bash "$completions/nvrtccache.bash" >"$tmp/out" && grep -q -- '-F _nvrtccache nvrtccache' "$tmp/out"; }
check "The file registers itself." registered

if command -v zsh >/dev/null; then
	# What zsh offers: a terminal of its own, as its completion works in a line editor only.
	cat >"$tmp/zsh.py" <<'END'
import os, pty, re, select, sys, time
script, line = sys.argv[1], sys.argv[2]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="", COLUMNS="200", LINES="200")
    os.execlp("zsh", "zsh", "-f", "-i")
def read_until(mark, seconds=60):
    got, end = b"", time.time() + seconds
    while mark not in got and time.time() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                got += os.read(terminal, 65536)
            except OSError:
                break
    return got.decode(errors="replace")
os.write(terminal, b"stty cols 200 rows 200; unsetopt zle_bracketed_paste; fpath=(%s $fpath); autoload -U compinit; compinit -u -D; LISTMAX=0; setopt no_beep no_auto_menu list_ambiguous;"
         b" zstyle ':completion:*' list-grouped no; echo rea''dy\n" % os.path.dirname(script).encode())
read_until(b"ready\r\n")
# what would be offered goes to a file instead of the screen
os.write(terminal, b"compadd() { local -a found; builtin compadd -O found \"$@\" 2>/dev/null; print -rl -- $found >>$TMPDIR/offered; builtin compadd \"$@\"; }; echo se''t\n")
read_until(b"set\r\n")
os.write(terminal, line.encode() + b"\t")
time.sleep(0.2)
os.write(terminal, b"\x15echo do''ne\n")
sys.stderr.write(read_until(b"done\r\n"))
os.write(terminal, b"\x15exit\n")
os.waitpid(pid, 0)
END
	zsh_offers() {
		rm -f "$tmp/offered"
		TMPDIR=$tmp timeout 300 python3 "$tmp/zsh.py" "$completions/_nvrtccache" "$1" 2>"$tmp/screen"
		sort -u "$tmp/offered" >"$tmp/offers"
	}
	zsh_commands() {
		zsh_offers 'nvrtccache ' || return
		for verb in "${verbs[@]}"; do grep -qx "$verb" "$tmp/offers" || { echo "no $verb" && cat "$tmp/offers" && return 1; }; done
	}
	check "zsh offers the commands that there are." zsh_commands
	zsh_options() {
		local verb
		for verb in ls run stats; do
			zsh_offers "nvrtccache $verb --" && diff <(options_of "$verb") <(grep -- '^--' "$tmp/offers") || { echo "of $verb" && cat "$tmp/screen" && return 1; }
		done
		zsh_offers "nvrtccache ls --sort " && diff <(printf '%s\n' saved size used) "$tmp/offers"
	}
	check "zsh offers the options that help shows, and their values." zsh_options
else
	skip "zsh offers the commands that there are." "no zsh"
	skip "zsh offers the options that help shows, and their values." "no zsh"
fi

plan
