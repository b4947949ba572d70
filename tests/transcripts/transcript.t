# SPDX-License-Identifier: MIT
The runner of these files: what fails, what is skipped, and what --write makes of a file.

What is printed is compared with what is shown: standard output, standard error, and the exit status.
  $ transcript() { python3 $TOP/tests/transcripts/transcript.py "$@"; }
  $ cat >a.t <<'EOF'
  > Two lines and a status.
  >   $ echo one; echo 22 >&2; false
  >   one
  >   2> [0-9] (re)
  > 
  > Nothing.
  >   $ true
  > EOF
  $ transcript $BUILD a.t
  not ok 1 - Two lines and a status.
  #   --- a.t
  #   +++ printed
  #   @@ -1,4 +1,5 @@
  #    Two lines and a status.
  #      $ echo one; echo 22 >&2; false
  #      one
  #   -  2> [0-9] (re)
  #   +  2> 22
  #   +  [1]
  ok 2 - Nothing.
  1..2
  [1]

--write shows what was printed, and leaves the marks of what matches; then all is well.
  $ sed -i 's/\[0-9\]/[0-9]+/' a.t; transcript --write $BUILD a.t | grep ok; sed -n 2,5p a.t
  not ok 1 - Two lines and a status.
  ok 2 - Nothing.
    $ echo one; echo 22 >&2; false
    one
    2> [0-9]+ (re)
    [1]
  $ transcript $BUILD a.t
  ok 1 - Two lines and a status.
  ok 2 - Nothing.
  1..2

A line may be a pattern, lack its end, or have bytes that are no text.
  $ cat >b.t <<'EOF'
  > Marks.
  >   $ echo a-b; echo 12; printf 'c\033'
  >   a?* (glob)
  >   \d\d (re)
  >   c\x1b (no-eol) (esc)
  > 
  > A pattern matches whole lines.
  >   $ echo abc
  >   b (re)
  > EOF
  $ transcript $BUILD b.t | grep ok
  ok 1 - Marks.
  not ok 2 - A pattern matches whole lines.

A section is skipped where what it requires fails, and a file where that of its beginning does.
  $ cat >c.t <<'EOF'
  > Skipped.
  > # requires: false
  >   $ echo one
  > 
  > Not skipped.
  >   $ true
  > EOF
  $ (echo Above.; echo '  $ true'; echo; cat c.t) >d.t; for name in c d; do transcript $BUILD $name.t; done
  1..0 # SKIP needs false
  ok 1 - Above.
  ok 2 - Skipped. # SKIP needs false
  ok 3 - Not skipped.
  1..3

A command that ends the shell fails, and all that follow it.
  $ printf 'One.\n  $ exit 0\n\nTwo.\n  $ true\n' >e.t; transcript $BUILD e.t
  not ok 1 - One.
  #   --- e.t
  #   +++ printed
  #   @@ -1,2 +1,3 @@
  #    One.
  #      $ exit 0
  #   +  (not run to its end)
  not ok 2 - Two.
  #   --- e.t
  #   +++ printed
  #   @@ -1,3 +1,4 @@
  #    
  #    Two.
  #      $ true
  #   +  (not run to its end)
  1..2
  [1]

Commands of a file have one shell, a directory of their own, and no variables of the caller.
  $ printf 'One.\n  $ one=1 && pwd\n  $TMP\n\nTwo.\n  $ echo $one $CALLER; ls -A\n  1\n  home\n' >f.t; CALLER=1 transcript $BUILD f.t
  ok 1 - One.
  ok 2 - Two.
  1..2
