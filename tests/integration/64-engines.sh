#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 150
# Engines by the functions of agent/engine/engine.h, against real servers (redis-server, nginx) on sockets of their own, and against
# servers that lie. recipes/ has the configuration that is tried here.
. "$(dirname "$0")/lib.sh"
CLIENT=$BUILD/tests/fixtures/engine_client
SERVERS=$(cd "$(dirname "$0")/../fixtures/engines" && pwd)
RECIPES=$(cd "$(dirname "$0")/../../recipes" && pwd)
format=$(sed -nE 's/^#define ENTRY_FORMAT +//p' "$RECIPES/../cache/entry.h")
PATH=$PATH:/usr/sbin
[ -x "$CLIENT" ] || skip_all "no agent was built: hiredis, libcurl or zstd is missing"
command -v python3 >/dev/null || skip_all "no python3"
unset LD_LIBRARY_PATH "${!http_proxy@}" "${!https_proxy@}" "${!HTTP_PROXY@}" "${!HTTPS_PROXY@}" "${!ALL_PROXY@}"
cd "$tmp" || exit 1

pids=()
stop_all() {
	local pid
	for pid in "${pids[@]}" $(cat second nginx.pid 2>/dev/null); do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	wait 2>/dev/null
}
trap 'stop_all; clean_up' EXIT

exists() { wait_for [ -e "$1" ]; }
# answers LINE... <OUTPUT: every line of the client's begins with what is said, in order
answers() {
	local line wanted said=0
	exec {calls}<"$tmp/out"
	for wanted; do
		IFS= read -r line <&"$calls" || line='(nothing)'
		# shellcheck disable=SC2053 # a pattern
		[[ $line == $wanted ]] || { echo "wanted: $wanted"; echo "was:    $line"; said=1; }
	done
	! IFS= read -r line <&"$calls" || { echo "one more: $line"; said=1; }
	exec {calls}<&-
	! grep LATE "$tmp/out" || said=1
	return "$said"
}
# asked OPTION... <LINES: the client's output is in $tmp/out
asked() {
	"$CLIENT" "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }
	cat "$tmp/out" "$tmp/err" >>"$tmp/all-words"
}

# for commands of the client's
printf 'turn=0\nuntil [ -e "$1" ]; do turn=$((turn + 1)); [ $turn -lt 1200 ] || exit 1; sleep 0.05; done\n' >await
# shellcheck disable=SC2016 # its own
echo 'for pid; do kill -STOP "$pid"; until ! grep -q -v "^[0-9]* (.*) T" /proc/$pid/task/*/stat; do sleep 0.02; done; done' >halt
: >v0
printf x >v1
head -c 52000 /dev/urandom >v52k
head -c 2097152 /dev/zero >v2m
head -c 1048576 /dev/urandom >v1m
head -c $((65 << 20)) /dev/zero >v65m

# What every engine does; OPTION... are the client's.
all_values() {
	asked "$@" <<-END || return 1
		get 9 got
		get 1 got
		put 1 v52k
		get 1 got
		sh cmp -s got v52k
		put 2 v0
		get 2 got
		sh cmp -s got v0
		put 2 v1
		get 2 got
		sh cmp -s got v1
		put 2 v1m
		get 2 got
		sh cmp -s got v1m
		put 3 v65m
		get 3 got
	END
	answers 'get ABSENT' 'get ABSENT' 'put DONE 52000' 'get DONE 52000' 'put DONE 0' 'get DONE 0' \
		'put DONE 1' 'get DONE 1' 'put DONE 1048576' 'get DONE 1048576' 'put TOO_LARGE *' 'get ABSENT'
}
# One node compiles, and the agent of another finds it: two directories, one engine.
two_nodes() { # OPTION... of the agent's
	local node
	rm -rf nodes
	for node in one other; do
		NVRTCCACHE_DIR=$tmp/nodes/$node "$BUILD/nvrtccache-agent" --prefix nodes "$@" --write --trust-engine -- \
			env NVRTCCACHE_AGENT=1 NVRTCCACHE_AGENT_WAIT=30s NVRTCCACHE_STATS=1 LD_PRELOAD="$LIBRARY" "$BUILD/tests/life" "$FAKE/13/libnvrtc.so.13" trivial 0 -arch=sm_90 \
			>"$tmp/$node" 2>&1 || { cat "$tmp/$node"; return 1; }
	done
	cat one other
	grep -q ' misses: 1, 1 stored' one && grep -q ' 1 on disk; misses: 0' other
}
check_two_nodes() { # WHAT OPTION...
	local sentence="$1: what one node has compiled, another one hits."
	shift
	lacks=
	[ -x "$BUILD/nvrtccache-agent" ] && [ -x "$BUILD/tests/life" ] && [ -e "$FAKE/13/libnvrtc.so.13" ] || lacks="no agent or no fake NVRTC in $BUILD"
	check_there "$sentence" two_nodes "$@"
}
nobody_there() {
	asked "$@" <<<'get 1 got' && answers 'get UNREACHABLE: *'
}

## Redis
echo 'a secret of Redis' >redis-secret
echo 'wrong secret' >wrong-secret
chmod 600 redis-secret wrong-secret
start_redis() { # OPTION...
	# an instance that was stopped removes its socket late
	rm -f redis.sock
	redis-server - "$@" >redis.log 2>&1 <<-END &
		port 0
		unixsocket $tmp/redis.sock
		unixsocketperm 700
		dir $tmp
		save ""
		appendonly no
	END
	redis=$!
	pids+=("$redis")
	exists "$tmp/redis.sock"
}
stop_redis() {
	kill -KILL "$redis" $(cat second 2>/dev/null) 2>/dev/null
	wait "$redis" 2>/dev/null
	rm -f "$tmp/redis.sock"
}
REDIS=redis+unix://$tmp/redis.sock
ask_redis() { redis-cli -s "$tmp/redis.sock" "$@"; }

no_expiry() { [ "$(ask_redis ttl "nvrtccache:3:$format:$(printf '01%.0s' {1..32})")" = -1 ]; }
databases() {
	asked "$REDIS?db=5" <<<'get 1 got' && answers 'get ABSENT' &&
		asked "$REDIS?db=99" <<<'get 1 got' && answers 'get UNSUITED: *no such database*'
}
killed_between() {
	asked "$REDIS" <<-END && answers 'put DONE 1' 'get ABSENT' 'put DONE 52000' 'get UNREACHABLE: *'
		put 1 v1
		sh redis-cli -s $tmp/redis.sock shutdown nosave; redis-server --port 0 --unixsocket $tmp/redis.sock --dir $tmp --save '' >/dev/null 2>&1 & echo \$! >$tmp/second; sh await $tmp/redis.sock
		get 1 got
		put 1 v52k
		sh kill -KILL \$(cat $tmp/second); while cat /proc/\$(cat $tmp/second)/task/*/stat 2>/dev/null | grep -q ') [^XZ] '; do sleep 0.01; done; rm -f $tmp/redis.sock
		get 1 got
	END
}
closed_when_idle() {
	asked "$REDIS" <<-END && answers 'put DONE 1' 'get DONE 1' 'put DONE 52000'
		put 1 v1
		sh redis-cli -s $tmp/redis.sock client kill type normal >/dev/null
		get 1 got
		sh redis-cli -s $tmp/redis.sock client kill type normal >/dev/null
		put 1 v52k
	END
}
stopped() {
	asked "$REDIS" <<-END && answers 'get DONE 52000' 'get SLOW: *' 'put SLOW *' 'get DONE 52000'
		get 1 got
		sh sh halt $redis
		limit 200
		get 1 got
		put 1 v1m
		limit 10000
		sh kill -CONT $redis; redis-cli -s $tmp/redis.sock ping >/dev/null
		get 1 got
	END
}
full() {
	ask_redis config set maxmemory 100 >/dev/null && ask_redis config set maxmemory-policy noeviction >/dev/null || return 1
	asked "$REDIS" <<-END && answers 'put FULL *' 'get DONE 52000'
		put 4 v1
		get 1 got
	END
	ask_redis config set maxmemory 0 >/dev/null
}
wrong_type() {
	ask_redis lpush "nvrtccache:3:$format:$(printf '08%.0s' {1..32})" element >/dev/null || return 1
	asked "$REDIS" <<<'get 8 got' && answers 'get UNSUITED: *'
}
too_long_there() {
	ask_redis config set proto-max-bulk-len 1048576 >/dev/null
	asked "$REDIS" <<-END && answers 'put TOO_LARGE *' 'get DONE 52000'
		put 4 v2m
		get 1 got
	END
}
login() {
	asked "$REDIS" <<<'get 9 got' && answers 'get REFUSED: *password*' || return 1
	asked --password-file redis-secret "$REDIS" <<<'get 9 got' && answers 'get ABSENT' || return 1
	asked --password-file wrong-secret "$REDIS" <<<'get 9 got' && answers 'get REFUSED: *' || return 1
	asked --user nobody --password-file redis-secret "$REDIS" <<<'get 9 got' && answers 'get REFUSED: *'
}
# The lines of recipes/redis.conf, with secrets of ours.
readers_and_writers() {
	asked --user nvrtccache-writer --password-file redis-secret "$REDIS" <<-END && answers 'get ABSENT' 'put DONE 1' 'get DONE 1' || return 1
		get 9 got
		put 1 v1
		get 1 got
	END
	asked --user nvrtccache-reader --password-file redis-secret "$REDIS" <<-END && answers 'get ABSENT' 'get DONE 1' 'put REFUSED 1: *' 'get DONE 1' || return 1
		get 9 got
		get 1 got
		put 1 v1
		get 1 got
	END
	asked --prefix other --user nvrtccache-reader --password-file redis-secret "$REDIS" <<<'get 1 got' && answers 'get REFUSED: *'
}
from_recipe() {
	! grep '^port\|^unixsocket\|^dir ' "$RECIPES/redis.conf" || return 1
	sed "s/>CHANGE-ME-[A-Z]*/>SECRET/" "$RECIPES/redis.conf" | grep '^user ' | while read -r line; do
		# shellcheck disable=SC2086 # words of a command, but for the secret, which has spaces
		set -- ${line#user }
		name=$1
		shift
		ask_redis acl setuser "$name" "${@/>SECRET/>a secret of Redis}" | grep -qx OK || return 1
	done
}
if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
	check "Redis starts." start_redis
	check "Redis: a stored value exists and is returned unchanged." all_values "$REDIS"
	check "Redis: another database has other values, and a missing database is reported." databases
	check "Redis: what is put has no expiry." no_expiry
	check "Redis: a connection that it closed is made again, once." closed_when_idle
	check "Redis: if it is stopped, every call ends within its limit, and late answers are discarded." stopped
	check "Redis: if it is full, that is reported, and reading goes on." full
	check "Redis: a foreign value is reported." wrong_type
	check "Redis: a too large value is reported, and reading goes on." too_long_there
	check "Redis: killed between two calls, and started anew, and killed for good." killed_between
	check "Redis: a missing server is reported." nobody_there "$REDIS"
	stop_redis
	check "Redis: it starts with a password." start_redis --requirepass 'a secret of Redis'
	check "Redis: no password, a wrong one, or one of an unknown user is refused." login
	stop_redis
	check "Redis: it starts without one." start_redis
	check "Redis: it takes the users of recipes/redis.conf." from_recipe
	check_two_nodes Redis --user nvrtccache-writer --password-file "$tmp/redis-secret" --prefix nvrtccache:nodes --engine "$REDIS"
	check "Redis: with these users a reader cannot write, and no user can access keys outside the prefix." readers_and_writers
	stop_redis
else
	skip "Redis" "no redis-server"
fi

# A certificate of an authority of its own.
certificates() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=authority -keyout ca.key -out ca.pem &&
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server -keyout server.key -out server.csr &&
		openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out server.pem \
			-extfile <(echo subjectAltName=IP:127.0.0.1)
}
if command -v openssl >/dev/null && certificates >certificates.log 2>&1; then tls=1; else tls=; fi

# Ports that nobody had a moment ago; where somebody else is quicker, others are tried.
redis_with_ports() { # OPTION... of the server's
	local turn
	for turn in 1 2 3 4 5; do
		read -r port tls_port < <(python3 -c 'import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[one.getsockname()[1] for one in sockets])')
		redis-server --bind 127.0.0.1 --port "$port" --dir "$tmp" --save '' \
			${tls:+--tls-port "$tls_port" --tls-cert-file server.pem --tls-key-file server.key --tls-auth-clients no} "$@" >redis.log 2>&1 &
		redis=$!
		pids+=("$redis")
		while kill -0 "$redis" 2>/dev/null; do
			if grep -q 'Ready to accept connections' redis.log; then return 0; fi
			sleep 0.05
		done
	done
	cat redis.log && return 1
}
refused_without() { asked "$@" <<<'get 9 got' && answers 'get UNREACHABLE: *certificate*'; }
printf '%s\n' 'openssl_conf = all' '[all]' 'ssl_conf = ssl' '[ssl]' 'system_default = old' '[old]' 'MinProtocol = TLSv1' 'CipherString = ALL:@SECLEVEL=0' >old.conf
redis_with_old_tls() {
	local OPENSSL_CONF=$tmp/old.conf
	export OPENSSL_CONF
	redis_with_ports --tls-protocols TLSv1.1
}
old_tls() {
	OPENSSL_CONF=$tmp/old.conf asked --ca-file ca.pem "rediss://127.0.0.1:$tls_port" <<<'get 9 got' &&
		answers 'get UNREACHABLE: *version*'
}
if command -v redis-server >/dev/null; then
	check "Redis: it starts with ports." redis_with_ports
	check "Redis over TCP: a stored value exists and is returned unchanged." all_values "redis://127.0.0.1:${port:-1}"
	if [ -n "$tls" ] && redis-server --version >/dev/null && grep -q 'Ready' redis.log; then
		check "Redis over TLS: a stored value exists and is returned unchanged." all_values --prefix tls --ca-file ca.pem "rediss://127.0.0.1:$tls_port"
		check "Redis over TLS: an unknown authority is refused." refused_without "rediss://127.0.0.1:$tls_port"
		stop_redis
		check "Redis over an old TLS: it starts." redis_with_old_tls
		if OPENSSL_CONF=$tmp/old.conf openssl s_client -connect "127.0.0.1:$tls_port" -CAfile ca.pem </dev/null 2>&1 | grep 'Cipher is [A-Z]' >/dev/null; then
			check "Redis over an old TLS: not even where the system allows it." old_tls
		else
			skip "Redis over an old TLS" "this OpenSSL has none before 1.2"
		fi
	else
		skip "Redis over TLS" "no openssl"
	fi
	stop_redis
fi

# Nobody there whose name is to be found, either.
mute_names() {
	LD_PRELOAD=$BUILD/tests/fixtures/libmute_names.so timeout 300 "$CLIENT" "$1" <<<$'limit 300\nget 1 got' >"$tmp/out" && answers 'get SLOW: *'
}
if python3 -c 'import ctypes, sys; v = ctypes.CDLL("libcurl.so.4").curl_version; v.restype = ctypes.c_char_p; sys.exit(tuple(map(int, v().split()[0].split(b"/")[1].split(b"-")[0].split(b".")[:2])) < (7, 87))' 2>/dev/null; then
	for scheme in redis rediss http https; do
		check "Where name servers say nothing, $scheme ends within its limit." mute_names "$scheme://name.invalid"
	done
else
	skip "Where name servers say nothing, calls end within their limit." "libcurl before 7.87 waits for getaddrinfo()"
fi

## nginx
start_nginx() { # [LEFT-OUT]: with the recipe, but on a socket of its own
	mkdir -p nginx/root && chmod 755 "$tmp" nginx nginx/root
	{
		echo "daemon off; pid $tmp/nginx.pid; error_log stderr; worker_processes 1;"
		[ "$(id -u)" != 0 ] || echo "user root;"
		echo "events { worker_connections 64; } http { access_log off;"
		for place in client_body proxy fastcgi uwsgi scgi; do echo "${place}_temp_path $tmp/nginx/$place;"; done
		sed -e "s|listen .*;|listen unix:$tmp/nginx.sock;|" -e "s|root .*;|root $tmp/nginx/root;|" -e '/ssl_/d' \
			${1:+-e "/$1/d"} \
			-e "s|auth_basic_user_file .*;|auth_basic_user_file $tmp/nginx/users;|" "$RECIPES/nginx.conf"
		echo "}"
	} >nginx/conf
	printf 'ci:{PLAIN}a secret of HTTP\n' >nginx/users
	rm -f nginx.sock
	nginx -e stderr -c "$tmp/nginx/conf" >nginx.log 2>&1 &
	nginx=$!
	pids+=("$nginx")
	exists "$tmp/nginx.sock" || { cat nginx.log; return 1; }
}
stop_nginx() {
	kill -QUIT "$nginx" $(cat nginx.pid 2>/dev/null) 2>/dev/null
	wait "$nginx" 2>/dev/null
	rm -f nginx.sock
}
NGINX=http+unix://$tmp/nginx.sock:/nvrtccache
echo 'a secret of HTTP' >http-secret
chmod 600 http-secret
BASIC=(--user ci --password-file "$tmp/http-secret")
only_with_password() {
	asked "$NGINX" <<-END && answers 'get DONE 52000' 'put REFUSED *' || return 1
		get 1 got
		put 1 v1
	END
	asked --user ci --password-file wrong-secret "$NGINX" <<<'put 1 v1' && answers 'put REFUSED *'
}
too_large_there() {
	head -c $((64 << 20)) /dev/zero >v64m
	asked "${BASIC[@]}" "$NGINX" <<-END && answers 'put TOO_LARGE *' 'get DONE 52000'
		put 1 v64m
		get 1 got
	END
}
no_directories() { asked "${BASIC[@]}" "$NGINX" <<<'put 9 v1' && answers 'put BROKEN *create_full_put_path*'; }
nginx_anew() {
	asked "${BASIC[@]}" "$NGINX" <<-END && answers 'get DONE 52000' 'get DONE 52000' 'put DONE 52000' 'get UNREACHABLE: *'
		get 1 got
		sh kill -KILL $nginx \$(cat /proc/$nginx/task/$nginx/children); rm -f $tmp/nginx.sock $tmp/nginx.pid; nginx -e stderr -c $tmp/nginx/conf >/dev/null 2>&1 & sh await $tmp/nginx.sock; sh await $tmp/nginx.pid
		get 1 got
		sh kill -HUP \$(cat $tmp/nginx.pid)
		put 1 v52k
		sh kill -KILL \$(cat $tmp/nginx.pid) \$(cat /proc/\$(cat $tmp/nginx.pid)/task/*/children); rm -f $tmp/nginx.sock
		get 1 got
	END
}
nginx_stopped() {
	local workers
	workers=$(cat "/proc/$nginx/task/$nginx/children")
	asked "${BASIC[@]}" "$NGINX" <<-END && answers 'get DONE 52000' 'get SLOW: *' 'put SLOW *' 'get DONE 52000'
		get 1 got
		sh sh halt $workers
		limit 200
		get 1 got
		put 1 v1m
		limit 10000
		sh kill -CONT $workers
		get 1 got
	END
}
takes_no_put() { asked "${BASIC[@]}" "http+unix://$tmp/nginx.sock:/elsewhere" <<<'put 1 v1' && answers 'put UNSUITED *dav_methods*'; }
if command -v nginx >/dev/null && nginx -V 2>&1 | grep -q http_dav_module; then
	check "nginx starts with recipes/nginx.conf." start_nginx
	check "nginx: a stored value exists and is returned unchanged." all_values "${BASIC[@]}" "$NGINX"
	check "nginx: Bazel's layout has its values elsewhere." all_values --layout bazel "${BASIC[@]}" "$NGINX"
	check "nginx: all users may read, and only those with the password may write." only_with_password
	check_two_nodes nginx "${BASIC[@]}" --engine "$NGINX"
	check "nginx: a too large value is reported, and reading goes on." too_large_there
	check "nginx: if it accepts no PUT, that is reported." takes_no_put
	check "nginx: where it is stopped, every call ends within its limit." nginx_stopped
	check "nginx: killed between two calls, reloaded with SIGHUP, and killed for good." nginx_anew
	wait "$nginx" 2>/dev/null
	check "nginx: a missing server is reported." nobody_there "$NGINX"
	stop_nginx
	check "nginx: it starts without create_full_put_path." start_nginx create_full_put_path
	check "nginx: if it creates no directories, that is reported." no_directories
	stop_nginx
else
	skip "nginx" "no nginx with its DAV module"
fi

## HTTP and S3 by a server of our own
start_store() { # PLACE OPTION...
	rm -f "$1"
	python3 "$SERVERS/http_store.py" "$@" >store.log 2>&1 &
	store=$!
	pids+=("$store")
	exists "$1" || { cat store.log; return 1; }
}
stop_store() { kill -KILL "$store" && wait "$store" 2>/dev/null; }
STORE=http+unix://$tmp/store.sock:
statuses() {
	local status get put failed=0
	while IFS='|' read -r status get put; do
		asked "$STORE/status/$status" <<<$'get 1 got\nput 1 v1' && answers "get $get" "put $put" || failed=1
	done <<-END
		200|DONE*|DONE*
		204|UNSUITED*|DONE*
		302|UNSUITED:*redirects are not followed*|UNSUITED*
		400|UNSUITED*|UNSUITED*
		401|REFUSED*|REFUSED*
		403|REFUSED*|REFUSED*
		404|ABSENT|UNSUITED*
		405|UNSUITED*|UNSUITED*dav_methods*
		409|UNSUITED*|UNSUITED*does not create directories*
		410|ABSENT|UNSUITED*
		413|TOO_LARGE*|TOO_LARGE*
		429|BROKEN*|BROKEN*
		500|BROKEN*|BROKEN*create_full_put_path*
		501|BROKEN*|BROKEN*dav_methods*
		503|BROKEN*|BROKEN*
		507|FULL*|FULL*
	END
	! grep -q elsewhere.invalid "$tmp/store.log" && return $failed
}
bazel_remote() { asked --layout bazel "$STORE/" <<<'put 1 v1' && answers 'put UNSUITED*--disable_http_ac_validation*'; }
check "A store over HTTP starts." start_store "$tmp/store.sock" --ac-validation
check "HTTP: a stored value exists and is returned unchanged." all_values "$STORE/"
check "HTTP: what statuses come to." statuses
check "HTTP: the settings that bazel-remote needs are reported." bazel_remote
stop_store

echo 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' >s3-secret
chmod 600 s3-secret
S3=(--user AKIDEXAMPLE --s3-endpoint "http+unix://$tmp/s3.sock" --s3-region eu-central-1)
s3_refused() {
	asked "${S3[@]}" --password-file wrong-secret s3://bucket/path <<-END && answers 'get REFUSED*403*' 'get REFUSED*403*' || return 1
		get 9 got
		get 1 got
	END
	asked "${S3[@]}" --s3-region us-east-1 --password-file s3-secret s3://bucket/path <<<'put 1 v1' && answers 'put REFUSED*403*'
}
if asked "${S3[@]}" --password-file s3-secret s3://bucket </dev/null >/dev/null; then
	check "S3: a server that checks signatures starts." start_store "$tmp/s3.sock" --s3 AKIDEXAMPLE "$(cat s3-secret)" eu-central-1
	check "S3: a stored value exists and is returned unchanged." all_values "${S3[@]}" --password-file s3-secret s3://bucket/path
	check_two_nodes S3 "${S3[@]}" --password-file "$tmp/s3-secret" --engine s3://bucket/path
	check "S3: names are in the bucket, after the path." grep -q "^PUT /bucket/path/nvrtccache/3-$format/01/0101" store.log
	check "S3: a wrong secret and a wrong region are refused." s3_refused
	stop_store
else
	skip "S3" "$(sed 1q out)"
fi

if [ -n "$tls" ]; then
	check "HTTPS: a server starts." start_store "$tmp/port" --port --tls server.pem server.key
	HTTPS=https://127.0.0.1:$(cat port)/path
	check "HTTPS: a stored value exists and is returned unchanged." all_values --ca-file ca.pem "$HTTPS"
	check "HTTPS: an unknown authority is refused." refused_without "$HTTPS"
	check "HTTPS: a certificate of another name is refused." refused_without --ca-file ca.pem "${HTTPS/127.0.0.1/localhost}"
	stop_store
else
	skip "HTTPS" "no openssl"
fi

## Lies
# lies ADDRESS LINES WANTED... -- CONNECTION...
lies() { # [--OPTION VALUE]... ADDRESS LINES ANSWER... -- CONNECTION...
	local options=() address lines wanted=() liar
	while [[ $1 == --* ]]; do options+=("$1" "$2") && shift 2; done
	address=$1 lines=$2
	shift 2
	while [ "$1" != -- ]; do wanted+=("$1"); shift; done
	shift
	rm -f liar.sock
	python3 "$SERVERS/liar.py" "$tmp/liar.sock" "$@" >liar.log 2>&1 &
	liar=$!
	pids+=("$liar")
	exists "$tmp/liar.sock" || return 1
	asked "${options[@]}" "$address" <<<"$lines" && answers "${wanted[@]}"
	local code=$?
	kill -KILL "$liar" 2>/dev/null
	wait "$liar" 2>/dev/null
	return $code
}
LIAR=$tmp/liar.sock
G='get 1 got'
check "Redis: half a value is none." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*closed*' -- 'r,s:$1000\r\n,z:500'
check "Redis: a value that is announced too long is not waited for." lies "redis+unix://$LIAR" "$G" 'get TOO_LARGE*' -- 'r,s:$99999999999999999999\r\n,w'
check "Redis: words of another protocol." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*Redis*' -- 'r,s:HTTP/1.1 200 OK\r\n\r\n,w'
check "Redis: an array is no value." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*Redis*' -- 'r,s:*1000000000\r\n,w'
check "Redis: a number is no value." lies "redis+unix://$LIAR" "$G" 'get UNSUITED:*' -- 'r,s::5\r\n,w'
check "Redis: a line without end." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*Redis*' -- 'r,s:+,z:200000,w'
check "Redis: a length without end." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*Redis*' -- 'r,s:$-,f:1'
check "Redis: a length of zeros without end." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*Redis*' -- 'r,s:$,f:0'
check "Redis: two answers to one question end the connection, and neither is taken." lies "redis+unix://$LIAR" "$G"$'\n'"$G" \
	'get BROKEN:*more than*' 'get DONE 3' -- 'r,s:$1\r\na\r\n$1\r\nb\r\n,w' 'r,s:$3\r\nabc\r\n,w'
check "Redis: an unexpected answer is not used for the next question." lies "redis+unix://$LIAR" "$G"$'\nsh : >heard; sh await said\n'"$G" \
	'get DONE 1' 'get DONE 3' -- 'r,s:$1\r\na\r\n,a:heard,s:$1\r\nb\r\n,m:said,w' 'r,s:$3\r\nabc\r\n,w'
check "Redis: a value that arrives too slowly is a timeout." lies "redis+unix://$LIAR" $'limit 300\n'"$G" 'get SLOW*' -- 'r,s:$1000\r\n,z:1,w'
ERRORS=('OOM command not allowed when used memory|FULL:*no space*' 'WRONGTYPE Operation against|UNSUITED:*--prefix*'
	'MOVED 1 127.0.0.1:1|UNSUITED:*cluster*' 'ASK 1 127.0.0.1:1|UNSUITED:*cluster*' 'ERR unknown command GET|UNSUITED:*lacks*'
	'NOAUTH Authentication required.|REFUSED:*password*' 'NOPERM this user|REFUSED:*permission*' 'DENIED Redis is running in|REFUSED:*protected*'
	'READONLY You are|REFUSED:*replica*' 'LOADING Redis is loading the dataset|BROKEN:*loading the dataset*'
	'ERR max number of clients reached|BROKEN:*clients*' 'ERR Protocol error: invalid bulk length|TOO_LARGE:*bulk*')
errors() { # the first five leave the connection open
	local row asked='' wanted=() connections=(r)
	for row in "${ERRORS[@]}"; do
		asked+=$G$'\n' wanted+=("get ${row#*|}")
		connections[-1]+=",s:-${row%|*}\\r\\n"
		[ "${#wanted[@]}" -le 5 ] && connections[-1]+=,r || connections[-1]+=,w connections+=(r)
	done
	unset 'connections[-1]'
	lies "redis+unix://$LIAR" "$asked" "${wanted[@]}" -- "${connections[@]}"
}
check "Redis: each error has its answer and its words." errors
check "Redis: one that has become a replica is looked for anew." lies "redis+unix://$LIAR" $'put 1 v1\nput 1 v1' 'put REFUSED*master*' 'put DONE 1' -- \
	'r,s:-READONLY You can'"\\'"'t write against a read only replica.\r\n,w' 'r,s:+OK\r\n,w'
check "Redis: control characters in an error do not reach a terminal." lies "redis+unix://$LIAR" "$G" 'get BROKEN:*ERR ?[[]2J ??31m ???txt' -- 'r,s:-ERR \x1b[2J \xc2\x9b31m \xe2\x80\xaetxt\r\n,w'
echoed() {
	asked --password-file redis-secret "redis+unix://$LIAR" <<<"$G" && ! grep -F 'a secret of Redis' "$tmp/out"
}
says_it_again() {
	rm -f liar.sock
	python3 "$SERVERS/liar.py" "$LIAR" "$@" >liar.log 2>&1 &
	pids+=($!)
	exists "$LIAR" && echoed
}
check "Redis: a secret that the server repeats at login is not printed." says_it_again 'r,s:-ERR unknown command AUTH with a secret of Redis\r\n,w'
long_secret() {
	local secret
	secret=$(printf 'hunter4%04000d' 0) && echo "$secret" >long-secret && chmod 600 long-secret && rm -f liar.sock || return
	python3 "$SERVERS/liar.py" "$LIAR" 'r,s:+OK\r\n,r,s:-ERR '"$secret"'\r\n,w' >liar.log 2>&1 &
	pids+=($!)
	exists "$LIAR" && asked --password-file long-secret "redis+unix://$LIAR" <<<"$G" && answers 'get BROKEN: *message not shown*'
}
check "Redis: nor a secret that is longer than the printed text." long_secret
check "Redis: nor one that comes back later." says_it_again 'r,s:+OK\r\n,r,s:-ERR a secret of Redis\r\n,w'

check "HTTP: half a value is none." lies "http+unix://$LIAR" "$G" 'get BROKEN:*' -- 'r,s:HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n,z:500'
check "HTTP: a chunked value that ends early is none." lies "http+unix://$LIAR" "$G" 'get BROKEN:*' -- 'r,s:HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n'
check "HTTP: a chunked value is taken." lies "http+unix://$LIAR" "$G" 'get DONE 5' -- 'r,s:HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n,w'
check "HTTP: a value that is announced too long is not waited for." lies "http+unix://$LIAR" "$G" 'get TOO_LARGE*' -- 'r,s:HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n,z:10,w'
check "HTTP: nor one that never ends." lies "http+unix://$LIAR" "$G" 'get TOO_LARGE*' -- 'r,s:HTTP/1.1 200 OK\r\n\r\n,z:70000000,w'
check "HTTP: words of another protocol." lies "http+unix://$LIAR" "$G" 'get BROKEN:*' -- 'r,s:-ERR unknown command\r\n,w'
check "HTTP: an answer cut in its head." lies "http+unix://$LIAR" "$G" 'get BROKEN:*' -- 'r,s:HTTP/1.1 200 O'
check "HTTP: a connection closed without a word." lies "http+unix://$LIAR" "$G" 'get BROKEN:*' -- 'r'
check "HTTP: a kept-alive connection that was closed is opened again." lies "http+unix://$LIAR" "$G"$'\nsh sleep 0.5\n'"$G" 'get DONE 1' 'get DONE 2' -- \
	'r,s:HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na' 'r,s:HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab,w'
check "HTTP: also where it is closed when the question comes." lies "http+unix://$LIAR" "$G"$'\nput 1 v52k' 'get DONE 1' 'put DONE 52000' -- \
	'r,s:HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na,r' 'r,s:HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n,w'
check "HTTP: a value that arrives too slowly is a timeout." lies "http+unix://$LIAR" $'limit 300\n'"$G" 'get SLOW*' -- 'r,s:HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na,w'
check "HTTP: a part is not the whole." lies "http+unix://$LIAR" "$G" 'get UNSUITED:*206*' -- 'r,s:HTTP/1.1 206 Partial Content\r\nContent-Length: 1\r\n\r\na,w'

check "HTTP: a head without end is not cached." lies "http+unix://$LIAR" "$G" 'get BROKEN:*head*' -- 'r,s:HTTP/1.1 200 OK\r\n,f:X-Line: some words of no use\r\n'
check "HTTP: nor bytes after a body." lies "http+unix://$LIAR" "$G" 'get BROKEN:*head*' -- \
	'r,s:HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n,f:X-Line: some words of no use\r\n'
check "HTTP: a page that says in a terabyte that nothing is there is not read." lies "http+unix://$LIAR" "$G"$'\n'"$G" 'get ABSENT' 'get DONE 1' -- \
	'r,s:HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000000\r\n\r\n,f:words' 'r,s:HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na,w'

## Secrets
not_opened() { # WORDS OPTION...
	local words=$1
	shift
	! "$CLIENT" "$@" >"$tmp/out" 2>&1 </dev/null && grep -q -- "$words" "$tmp/out" || { cat "$tmp/out"; return 1; }
}
chmod 644 wrong-secret
check "A password's file that others can read is not taken." not_opened 'chmod 600' --password-file wrong-secret redis://host
check "A missing file is reported by name." not_opened 'missing-file' --password-file missing-file https://host
proxies() {
	local proxy
	for proxy in 'http://user:hunter3@:x' ftp://user:hunter3@host:1 'user:hunter3@a host'; do
		http_proxy=$proxy asked http://host.invalid <<<'get 1 got' && answers 'get UNREACHABLE: *' || return
	done
	! grep hunter3 all-words
}
check "Nor a password in the environment's words of a proxy." proxies
check "S3 without a key is not opened." not_opened 'access key' s3://bucket
check "No output of an engine contains a secret." \
	sh -c '! grep -e "secret of [RH]" -e "wrong secret" -e bPxRfiCYEXAMPLEKEY all-words'
plan
