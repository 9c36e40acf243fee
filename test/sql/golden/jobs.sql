-- claim

-- sqlite: worker, nonce, kind
update "jobs" set "worker_id" = ?, "status" = 'running', "run_id" = null, "pid" = null, "started_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch'), "finished_at" = null, "host" = null, "pid_start" = null, "claim" = ? where "id" = (select "id" from "jobs" where "status" = 'queued' collate binary and ("available_at" is null or cast(round((julianday("available_at") - 2440587.5) * 86400000.0) as integer) <= cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)) and ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) and "kind" = ? and "note" is null order by "priority" desc, "id" asc limit 1 ) returning *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", "host" as "job:host", "pid_start" as "job:pid-start", cast(round((julianday("started_at") - 2440587.5) * 86400000.0) as integer) as "job:started-ms", cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as "job:now-ms";

-- postgres: worker, nonce, kind
update "jobs" set "worker_id" = $1, "status" = 'running', "run_id" = null, "pid" = null, "started_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "finished_at" = null, "host" = null, "pid_start" = null, "claim" = $2 where "id" = (select "id" from "jobs" where ("status" = 'queued' and ("status")::text collate "C" = ('queued')::text collate "C") and ("available_at" is null or cast(extract(epoch from ("available_at")::timestamptz) * 1000 as bigint) <= cast(extract(epoch from clock_timestamp()) * 1000 as bigint)) and (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) and "kind" = $3 and "note" is null order by "priority" desc, "id" asc limit 1 for update skip locked) returning *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("host")::text as "job:host", ("pid_start")::text as "job:pid-start", cast(extract(epoch from ("started_at")::timestamptz) * 1000 as bigint) as "job:started-ms", cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as "job:now-ms";

-- mysql: worker, nonce, kind
update `jobs` set `worker_id` = ?, `status` = 'running', `run_id` = null, `pid` = null, `started_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000'), `finished_at` = null, `host` = null, `pid_start` = null, `claim` = ? where `id` = (select `id` from `jobs` where (`status` = 'queued' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('queued' using utf8mb4) as binary)) and (`available_at` is null or (timestampdiff(microsecond, '1970-01-01 00:00:00', `available_at`) div 1000) <= cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) and ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) and `kind` = ? and `note` is null order by `priority` desc, `id` asc limit 1 for update skip locked) returning *, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, `host` as `job:host`, `pid_start` as `job:pid-start`, (timestampdiff(microsecond, '1970-01-01 00:00:00', `started_at`) div 1000) as `job:started-ms`, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as `job:now-ms`;


-- pick

-- sqlite: kind
select "id" as "job:id" from "jobs" where "status" = 'queued' collate binary and ("available_at" is null or cast(round((julianday("available_at") - 2440587.5) * 86400000.0) as integer) <= cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)) and ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) and "kind" = ? and "note" is null order by "priority" desc, "id" asc limit 1;

-- postgres: kind
select "id" as "job:id" from "jobs" where ("status" = 'queued' and ("status")::text collate "C" = ('queued')::text collate "C") and ("available_at" is null or cast(extract(epoch from ("available_at")::timestamptz) * 1000 as bigint) <= cast(extract(epoch from clock_timestamp()) * 1000 as bigint)) and (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) and "kind" = $1 and "note" is null order by "priority" desc, "id" asc limit 1 for update skip locked;

-- mysql: kind
select `id` as `job:id` from `jobs` where (`status` = 'queued' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('queued' using utf8mb4) as binary)) and (`available_at` is null or (timestampdiff(microsecond, '1970-01-01 00:00:00', `available_at`) div 1000) <= cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) and ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) and `kind` = ? and `note` is null order by `priority` desc, `id` asc limit 1 for update skip locked;


-- take

-- sqlite: worker, nonce, 1
update "jobs" set "worker_id" = ?, "status" = 'running', "run_id" = null, "pid" = null, "started_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch'), "finished_at" = null, "host" = null, "pid_start" = null, "claim" = ? where "id" = ?;

-- postgres: worker, nonce, 1
update "jobs" set "worker_id" = $1, "status" = 'running', "run_id" = null, "pid" = null, "started_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "finished_at" = null, "host" = null, "pid_start" = null, "claim" = $2 where "id" = $3;

-- mysql: worker, nonce, 1
update `jobs` set `worker_id` = ?, `status` = 'running', `run_id` = null, `pid` = null, `started_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000'), `finished_at` = null, `host` = null, `pid_start` = null, `claim` = ? where `id` = ?;


-- move

-- sqlite: 1, 7, 77, started, nonce
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" = (select "id" from "jobs" where "id" = ? and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary ) returning "id" as "job:id";

-- postgres: 1, 7, 77, started, nonce
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" = (select "id" from "jobs" where "id" = $1 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $2 and "pid" is not distinct from $3 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($4)::text collate "C" and ("claim")::text collate "C" is not distinct from ($5)::text collate "C" for update skip locked) returning "id" as "job:id";

-- mysql: 1, 7, 77, started, nonce
update `jobs` set `status` = 'queued', `run_id` = null, `pid` = null, `started_at` = null, `finished_at` = null, `host` = null, `pid_start` = null, `claim` = null, `worker_id` = null where `id` = (select `id` from `jobs` where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) for update skip locked);


-- move elsewhere

-- sqlite: 1, 7, 77, started, nonce
update "jobs" set "status" = 'failed', "finished_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "id" = (select "id" from "jobs" where "id" = ? and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary ) returning "id" as "job:id";

-- postgres: 1, 7, 77, started, nonce
update "jobs" set "status" = 'failed', "finished_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "id" = (select "id" from "jobs" where "id" = $1 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $2 and "pid" is not distinct from $3 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($4)::text collate "C" and ("claim")::text collate "C" is not distinct from ($5)::text collate "C" for update skip locked) returning "id" as "job:id";

-- mysql: 1, 7, 77, started, nonce
update `jobs` set `status` = 'failed', `finished_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where `id` = (select `id` from `jobs` where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) for update skip locked);


-- finish

-- sqlite: 1, 7, started, nonce
update "jobs" set "status" = 'failed', "finished_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "id" = ? and "status" = 'running' collate binary and "run_id" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary returning "id" as "job:id";

-- postgres: 1, 7, started, nonce
update "jobs" set "status" = 'failed', "finished_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "id" = $1 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $2 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($3)::text collate "C" and ("claim")::text collate "C" is not distinct from ($4)::text collate "C" returning "id" as "job:id";

-- mysql: 1, 7, started, nonce
update `jobs` set `status` = 'failed', `finished_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- readFinished

-- sqlite: 1, 7, started, nonce
select "id" as "job:id" from "jobs" where "id" = ? and "status" = 'failed' collate binary and "run_id" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary;

-- postgres: 1, 7, started, nonce
select "id" as "job:id" from "jobs" where "id" = $1 and ("status" = 'failed' and ("status")::text collate "C" = ('failed')::text collate "C") and "run_id" is not distinct from $2 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($3)::text collate "C" and ("claim")::text collate "C" is not distinct from ($4)::text collate "C";

-- mysql: 1, 7, started, nonce
select `id` as `job:id` from `jobs` where `id` = ? and (`status` = 'failed' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('failed' using utf8mb4) as binary)) and `run_id` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary);


-- lockSeen

-- sqlite: 1, 7, 77, started, nonce
select "id" as "job:id" from "jobs" where "id" = ? and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary;

-- postgres: 1, 7, 77, started, nonce
select "id" as "job:id" from "jobs" where "id" = $1 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $2 and "pid" is not distinct from $3 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($4)::text collate "C" and ("claim")::text collate "C" is not distinct from ($5)::text collate "C" for update skip locked;

-- mysql: 1, 7, 77, started, nonce
select `id` as `job:id` from `jobs` where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) for update skip locked;


-- moveLocked

-- sqlite: 1
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" = ?;

-- postgres: 1
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" = $1;

-- mysql: 1
update `jobs` set `status` = 'queued', `run_id` = null, `pid` = null, `started_at` = null, `finished_at` = null, `host` = null, `pid_start` = null, `claim` = null, `worker_id` = null where `id` = ?;


-- reset

-- sqlite: 1, 2, 7, 77, nonce
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" in (select "id" from "jobs" where ("id" = ? or "id" = ?) and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and "claim" is ? collate binary order by "id" ) returning "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim";

-- postgres: 1, 2, 7, 77, nonce
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" in (select "id" from "jobs" where ("id" = $1 or "id" = $2) and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $3 and "pid" is not distinct from $4 and ("claim")::text collate "C" is not distinct from ($5)::text collate "C" order by "id" for update) returning "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim";

-- mysql: 1, 2, 7, 77, nonce
update `jobs` set `status` = 'queued', `run_id` = null, `pid` = null, `started_at` = null, `finished_at` = null, `host` = null, `pid_start` = null, `claim` = null, `worker_id` = null where `id` in (select `id` from `jobs` where (`id` = ? or `id` = ?) and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) order by `id` limit 18446744073709551615 for update);


-- lock

-- sqlite: 1, 2, 7, 77, nonce
select "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim" from "jobs" where ("id" = ? or "id" = ?) and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and "claim" is ? collate binary order by "id";

-- postgres: 1, 2, 7, 77, nonce
select "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim" from "jobs" where ("id" = $1 or "id" = $2) and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $3 and "pid" is not distinct from $4 and ("claim")::text collate "C" is not distinct from ($5)::text collate "C" order by "id" for update;

-- mysql: 1, 2, 7, 77, nonce
select `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim` from `jobs` where (`id` = ? or `id` = ?) and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) order by `id` limit 18446744073709551615 for update;


-- lockFree

-- sqlite: 1, 2
select "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim" from "jobs" where "id" in (?, ?) and "status" = 'running' collate binary order by "id";

-- postgres: 1, 2
select "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim" from "jobs" where "id" in ($1, $2) and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") order by "id" for update skip locked;

-- mysql: 1, 2
select `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim` from `jobs` where `id` in (?, ?) and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) order by `id` limit 18446744073709551615 for update skip locked;


-- resetLocked

-- sqlite: 1, 2
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" in (?, ?);

-- postgres: 1, 2
update "jobs" set "status" = 'queued', "run_id" = null, "pid" = null, "started_at" = null, "finished_at" = null, "host" = null, "pid_start" = null, "claim" = null, "worker_id" = null where "id" in ($1, $2);

-- mysql: 1, 2
update `jobs` set `status` = 'queued', `run_id` = null, `pid` = null, `started_at` = null, `finished_at` = null, `host` = null, `pid_start` = null, `claim` = null, `worker_id` = null where `id` in (?, ?);


-- read

-- sqlite: jobId
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", "host" as "job:host", "pid_start" as "job:pid-start", cast(round((julianday("started_at") - 2440587.5) * 86400000.0) as integer) as "job:started-ms", cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as "job:now-ms" from "jobs" where "id" = ?;

-- postgres: jobId
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("host")::text as "job:host", ("pid_start")::text as "job:pid-start", cast(extract(epoch from ("started_at")::timestamptz) * 1000 as bigint) as "job:started-ms", cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as "job:now-ms" from "jobs" where "id" = $1;

-- mysql: jobId
select *, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, `host` as `job:host`, `pid_start` as `job:pid-start`, (timestampdiff(microsecond, '1970-01-01 00:00:00', `started_at`) div 1000) as `job:started-ms`, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as `job:now-ms` from `jobs` where `id` = ?;


-- stamp

-- sqlite: runId, pid, host, pidStart, jobId, started, claim
update "jobs" set "run_id" = ?, "pid" = ?, "host" = ?, "pid_start" = ? where "id" = ? and "status" = 'running' collate binary and "run_id" is null and "pid" is null and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary returning "id" as "job:id";

-- postgres: runId, pid, host, pidStart, jobId, started, claim
update "jobs" set "run_id" = $1, "pid" = $2, "host" = $3, "pid_start" = $4 where "id" = $5 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is null and "pid" is null and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($6)::text collate "C" and ("claim")::text collate "C" is not distinct from ($7)::text collate "C" returning "id" as "job:id";

-- mysql: runId, pid, host, pidStart, jobId, started, claim
update `jobs` set `run_id` = ?, `pid` = ?, `host` = ?, `pid_start` = ? where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` is null and `pid` is null and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- readStamp

-- sqlite: jobId, runId, pid, started, claim
select "id" as "job:id" from "jobs" where "id" = ? and "status" = 'running' collate binary and "run_id" is ? and "pid" is ? and cast("started_at" as text) is ? collate binary and "claim" is ? collate binary;

-- postgres: jobId, runId, pid, started, claim
select "id" as "job:id" from "jobs" where "id" = $1 and ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "run_id" is not distinct from $2 and "pid" is not distinct from $3 and (extract(epoch from "started_at")::text)::text collate "C" is not distinct from ($4)::text collate "C" and ("claim")::text collate "C" is not distinct from ($5)::text collate "C";

-- mysql: jobId, runId, pid, started, claim
select `id` as `job:id` from `jobs` where `id` = ? and (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `run_id` <=> ? and `pid` <=> ? and cast(convert(cast(`started_at` as char) using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and cast(convert(`claim` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary);


-- firstRunning

-- sqlite: limit
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", "host" as "job:host", "pid_start" as "job:pid-start", cast(round((julianday("started_at") - 2440587.5) * 86400000.0) as integer) as "job:started-ms", cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as "job:now-ms", cast("id" as text) as "job:exact", case when ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as "job:readable" from "jobs" where "status" = 'running' collate binary order by "id" limit ?;

-- postgres: limit
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("host")::text as "job:host", ("pid_start")::text as "job:pid-start", cast(extract(epoch from ("started_at")::timestamptz) * 1000 as bigint) as "job:started-ms", cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as "job:now-ms", ("id")::text as "job:exact", case when (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as "job:readable" from "jobs" where ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") order by "id" limit $1;

-- mysql: limit
select *, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, `host` as `job:host`, `pid_start` as `job:pid-start`, (timestampdiff(microsecond, '1970-01-01 00:00:00', `started_at`) div 1000) as `job:started-ms`, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as `job:now-ms`, cast(`id` as char) as `job:exact`, case when ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) then 1 else 0 end as `job:readable` from `jobs` where (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) order by `id` limit ?;


-- nextRunning

-- sqlite: after, limit
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", "host" as "job:host", "pid_start" as "job:pid-start", cast(round((julianday("started_at") - 2440587.5) * 86400000.0) as integer) as "job:started-ms", cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as "job:now-ms", cast("id" as text) as "job:exact", case when ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as "job:readable" from "jobs" where "status" = 'running' collate binary and "id" > ? order by "id" limit ?;

-- postgres: after, limit
select *, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("host")::text as "job:host", ("pid_start")::text as "job:pid-start", cast(extract(epoch from ("started_at")::timestamptz) * 1000 as bigint) as "job:started-ms", cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as "job:now-ms", ("id")::text as "job:exact", case when (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as "job:readable" from "jobs" where ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") and "id" > $1 order by "id" limit $2;

-- mysql: after, limit
select *, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, `host` as `job:host`, `pid_start` as `job:pid-start`, (timestampdiff(microsecond, '1970-01-01 00:00:00', `started_at`) div 1000) as `job:started-ms`, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as `job:now-ms`, cast(`id` as char) as `job:exact`, case when ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) then 1 else 0 end as `job:readable` from `jobs` where (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) and `id` > ? order by `id` limit ?;


-- firstQueued

-- sqlite: limit
with "job:page" as (select "id" as page_key, ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as page_impossible, case when ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", cast("id" as text) as "job:exact" from "jobs" where "status" = 'queued' collate binary order by "id" limit ?) select "job:page".*, page_impossible as "job:impossible", page_readable as "job:readable", (select count(*) from "job:page") as "job:page" from "job:page" where page_impossible or page_readable = 0 or page_key = (select page_key from "job:page" order by page_key desc limit 1) order by page_key;

-- postgres: limit
with "job:page" as (select "id" as page_key, ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as page_impossible, case when (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("id")::text as "job:exact" from "jobs" where ("status" = 'queued' and ("status")::text collate "C" = ('queued')::text collate "C") order by "id" limit $1) select "job:page".*, page_impossible as "job:impossible", page_readable as "job:readable", (select count(*) from "job:page") as "job:page" from "job:page" where page_impossible or page_readable = 0 or page_key = (select page_key from "job:page" order by page_key desc limit 1) order by page_key;

-- mysql: limit
with `job:page` as (select `id` as page_key, (`run_id` is not null or `pid` is not null or `started_at` is not null or `claim` is not null) as page_impossible, case when ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, cast(`id` as char) as `job:exact` from `jobs` where (`status` = 'queued' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('queued' using utf8mb4) as binary)) order by `id` limit ?) select `job:page`.*, page_impossible as `job:impossible`, page_readable as `job:readable`, (select count(*) from `job:page`) as `job:page` from `job:page` where page_impossible or page_readable = 0 or page_key = (select page_key from `job:page` order by page_key desc limit 1) order by page_key;


-- nextQueued

-- sqlite: after, limit
with "job:page" as (select "id" as page_key, ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as page_impossible, case when ((typeof("id") = 'integer' and +"id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or (typeof("task_id") = 'integer' and +"task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", cast("started_at" as text) as "job:started", "started_at" as "job:started-at", "claim" as "job:claim", cast("id" as text) as "job:exact" from "jobs" where "status" = 'queued' collate binary and "id" > ? order by "id" limit ?) select "job:page".*, page_impossible as "job:impossible", page_readable as "job:readable", (select count(*) from "job:page") as "job:page" from "job:page" where page_impossible or page_readable = 0 or page_key = (select page_key from "job:page" order by page_key desc limit 1) order by page_key;

-- postgres: after, limit
with "job:page" as (select "id" as page_key, ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as page_impossible, case when (("id" between -9007199254740991 and 9007199254740991) and ("task_id" is null or ("task_id" between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, "id" as "job:id", "task_id" as "job:task", "run_id" as "job:run", "pid" as "job:pid", extract(epoch from "started_at")::text as "job:started", "started_at" as "job:started-at", ("claim")::text as "job:claim", ("id")::text as "job:exact" from "jobs" where ("status" = 'queued' and ("status")::text collate "C" = ('queued')::text collate "C") and "id" > $1 order by "id" limit $2) select "job:page".*, page_impossible as "job:impossible", page_readable as "job:readable", (select count(*) from "job:page") as "job:page" from "job:page" where page_impossible or page_readable = 0 or page_key = (select page_key from "job:page" order by page_key desc limit 1) order by page_key;

-- mysql: after, limit
with `job:page` as (select `id` as page_key, (`run_id` is not null or `pid` is not null or `started_at` is not null or `claim` is not null) as page_impossible, case when ((`id` + 0 between -9007199254740991 and 9007199254740991) and (`task_id` is null or (`task_id` + 0 between -9007199254740991 and 9007199254740991))) then 1 else 0 end as page_readable, `id` as `job:id`, `task_id` as `job:task`, `run_id` as `job:run`, `pid` as `job:pid`, cast(`started_at` as char) as `job:started`, `started_at` as `job:started-at`, `claim` as `job:claim`, cast(`id` as char) as `job:exact` from `jobs` where (`status` = 'queued' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('queued' using utf8mb4) as binary)) and `id` > ? order by `id` limit ?) select `job:page`.*, page_impossible as `job:impossible`, page_readable as `job:readable`, (select count(*) from `job:page`) as `job:page` from `job:page` where page_impossible or page_readable = 0 or page_key = (select page_key from `job:page` order by page_key desc limit 1) order by page_key;


-- countJobs

-- sqlite: limit, limit
select waiting.*, working.* from (select count(*) as queued, sum(case when found then 1 else 0 end) as impossible from (select ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as found from "jobs" where "status" = 'queued' collate binary limit ?) as each_waiting) as waiting cross join (select count(*) as running, max(age_ms) as oldest_ms from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) - cast(round((julianday("started_at") - 2440587.5) * 86400000.0) as integer) as age_ms from "jobs" where "status" = 'running' collate binary limit ?) as each_working) as working;

-- postgres: limit, limit
select waiting.*, working.* from (select count(*) as queued, sum(case when found then 1 else 0 end) as impossible from (select ("run_id" is not null or "pid" is not null or "started_at" is not null or "claim" is not null) as found from "jobs" where ("status" = 'queued' and ("status")::text collate "C" = ('queued')::text collate "C") limit $1) as each_waiting) as waiting cross join (select count(*) as running, max(age_ms) as oldest_ms from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) - cast(extract(epoch from ("started_at")::timestamptz) * 1000 as bigint) as age_ms from "jobs" where ("status" = 'running' and ("status")::text collate "C" = ('running')::text collate "C") limit $2) as each_working) as working;

-- mysql: limit, limit
select waiting.*, working.* from (select count(*) as queued, sum(case when found then 1 else 0 end) as impossible from (select (`run_id` is not null or `pid` is not null or `started_at` is not null or `claim` is not null) as found from `jobs` where (`status` = 'queued' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('queued' using utf8mb4) as binary)) limit ?) as each_waiting) as waiting cross join (select count(*) as running, max(age_ms) as oldest_ms from (select cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) - (timestampdiff(microsecond, '1970-01-01 00:00:00', `started_at`) div 1000) as age_ms from `jobs` where (`status` = 'running' and cast(convert(`status` using utf8mb4) as binary) = cast(convert('running' using utf8mb4) as binary)) limit ?) as each_working) as working;
