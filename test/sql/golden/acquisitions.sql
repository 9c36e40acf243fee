-- take

-- sqlite: claim, actor, 1, bootId, host, start, runId, stage, 1, 1, 2, 2, taskId, stage
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select ?, task."id", ?, ?, ?, ?, ?, ?, ?, ?, clock.now_ms, clock.now_ms + min(?, ?), clock.now_ms + ? from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock, "tasks" as task where not exists (select 1 from "transition_lease" as taken where task_id = task."id") and task."id" = ? and task."stage" is ? collate binary on conflict (task_id) do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage;

-- postgres: claim, actor, 1, bootId, host, start, runId, stage, 1, 1, 2, 2, taskId, stage, taskId
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select $1, task."id", $2, $3, $4, $5, $6, $7, $8, $9, clock.now_ms, clock.now_ms + least(($10)::bigint, ($11)::bigint), clock.now_ms + $12 from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock, "tasks" as task where task."id" = ($13)::bigint and (task."stage")::text collate "C" is not distinct from ($14)::text collate "C" on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage, (select cast(json_build_array((again."id")::text, (again."stage")::text) as text) from "tasks" as again where again."id" = ($15)::bigint and "transition_lease".claim is not null limit 1 for share skip locked) as seen;

-- mysql: claim, taskId, actor, 1, bootId, host, start, runId, stage, 1, 1, 2, 2
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, case when 9223372036854775807 + (not @@session.autocommit = 1) > 0 then cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) end, acquired_ms + least(?, ?), acquired_ms + ?);


-- take in any stage

-- sqlite: claim, actor, 1, bootId, host, start, runId, 1, 1, 2, 2, taskId
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select ?, task."id", ?, ?, ?, ?, ?, ?, task."stage", ?, clock.now_ms, clock.now_ms + min(?, ?), clock.now_ms + ? from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock, "tasks" as task where not exists (select 1 from "transition_lease" as taken where task_id = task."id") and task."id" = ? on conflict (task_id) do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage;

-- postgres: claim, actor, 1, bootId, host, start, runId, 1, 1, 2, 2, taskId, taskId
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select $1, task."id", $2, $3, $4, $5, $6, $7, (task."stage")::text, $8, clock.now_ms, clock.now_ms + least(($9)::bigint, ($10)::bigint), clock.now_ms + $11 from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock, "tasks" as task where task."id" = ($12)::bigint on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage, (select cast(json_build_array((again."id")::text, (again."stage")::text) as text) from "tasks" as again where again."id" = ($13)::bigint and "transition_lease".claim is not null limit 1 for share skip locked) as seen;

-- mysql: claim, taskId, actor, 1, bootId, host, start, runId, stage, 1, 1, 2, 2
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, case when 9223372036854775807 + (not @@session.autocommit = 1) > 0 then cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) end, acquired_ms + least(?, ?), acquired_ms + ?);


-- takeMany

-- sqlite: 1, bootId, host, start, [{"claim":"claim","task_id":"taskId","owner":"actor","run_id":"runId","stage":"stage","any_stage":1,"ttl_ms":1,"max_hold_ms":2}], ["taskId"]
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, found.own_id, given.owner, ?, ?, ?, ?, given.run_id, case when given.any_stage = 1 then found.own_stage else given.stage end, given.ttl_ms, clock.now_ms, clock.now_ms + min(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock, (with each as materialized (select key, value from json_each(?)) select key + 1 as position, value ->> '$.claim' as "claim", value ->> '$.task_id' as "task_id", value ->> '$.owner' as "owner", value ->> '$.run_id' as "run_id", value ->> '$.stage' as "stage", value ->> '$.any_stage' as "any_stage", value ->> '$.ttl_ms' as "ttl_ms", value ->> '$.max_hold_ms' as "max_hold_ms" from each) as given, (select listed.key + 1 as position, task."id" as own_id, task."stage" as own_stage from "tasks" as task, json_each(?) as listed where task."id" = listed.value ) as found where not exists (select 1 from "transition_lease" as taken where task_id = found.own_id) and given.position = found.position and (given.any_stage = 1 or found.own_stage is given.stage collate binary) order by given.position on conflict (task_id) do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage;

-- postgres: 1, bootId, host, start, [{"claim":"claim","task_id":"taskId","owner":"actor","run_id":"runId","stage":"stage","any_stage":1,"ttl_ms":1,"max_hold_ms":2}], {"taskId"}, {"taskId"}, {"taskId"}
with inserted as (insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, found.own_id, given.owner, $1, $2, $3, $4, given.run_id, case when given.any_stage = 1 then found.own_stage else given.stage end, given.ttl_ms, clock.now_ms, clock.now_ms + least((given.ttl_ms)::bigint, (given.max_hold_ms)::bigint), clock.now_ms + given.max_hold_ms from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock, rows from (jsonb_to_recordset(($5::text)::jsonb) as ("claim" text, "task_id" bigint, "owner" text, "run_id" bigint, "stage" text, "any_stage" bigint, "ttl_ms" bigint, "max_hold_ms" bigint)) with ordinality as given ("claim", "task_id", "owner", "run_id", "stage", "any_stage", "ttl_ms", "max_hold_ms", "position"), (select unnest(array_positions(($6::text)::bigint[], (task."id")::bigint)) as position, task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = any(($7::text)::bigint[]) ) as found where given.position = found.position and (given.any_stage = 1 or (found.own_stage)::text collate "C" is not distinct from (given.stage)::text collate "C") order by given.position on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms, task_id as task_id, stage, task_id as own_id), seen as (select again."id" as own_id, cast(json_build_array((again."id")::text, (again."stage")::text) as text) as seen from "tasks" as again where again."id" = any(($8::text)::bigint[]) and again."id" in (select own_id from inserted) for share skip locked) select inserted.*, seen.seen from inserted left join seen on seen.own_id = inserted.own_id;

-- mysql: 1, bootId, host, start, [{"claim":"claim","task_id":"taskId","owner":"actor","run_id":"runId","stage":"stage","any_stage":1,"ttl_ms":1,"max_hold_ms":2}]
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) select given.claim, given.task_id, given.owner, ?, ?, ?, ?, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + least(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms) as clock, json_table(?, '$[*]' columns (position for ordinality, `claim` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.claim', `task_id` bigint path '$.task_id', `owner` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.owner', `run_id` bigint path '$.run_id', `stage` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.stage', `any_stage` bigint path '$.any_stage', `ttl_ms` bigint path '$.ttl_ms', `max_hold_ms` bigint path '$.max_hold_ms')) as given where 9223372036854775807 + (not @@session.autocommit = 1) > 0 order by given.position;


-- find

-- sqlite: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select task."id" as own_id, task."stage" as own_stage from "tasks" as task where task."id" = ? ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = ($1)::bigint ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: taskId
select found.own_id as own_id, found.own_stage, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select task.`id` as own_id, task.`stage` as own_stage from `tasks` as task where task.`id` = ? ) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id;


-- find latest holder

-- sqlite: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select task."id" as own_id, task."stage" as own_stage from "tasks" as task where task."id" = ? ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = ($1)::bigint ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: taskId
select found.own_id as own_id, found.own_stage, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select task.`id` as own_id, task.`stage` as own_stage from `tasks` as task where task.`id` = ? ) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id lock in share mode;


-- find latest

-- sqlite: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select task."id" as own_id, task."stage" as own_stage from "tasks" as task where task."id" = ? ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: taskId
select found.own_id as own_id, found.own_stage, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = ($1)::bigint ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: taskId
select found.own_id as own_id, found.own_stage, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select task.`id` as own_id, task.`stage` as own_stage from `tasks` as task where task.`id` = ? lock in share mode) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id lock in share mode;


-- findMany

-- sqlite: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select listed.key + 1 as position, task."id" as own_id, task."stage" as own_stage from "tasks" as task, json_each(?) as listed where task."id" = listed.value ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: {"one","two","three"}, {"one","two","three"}
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select unnest(array_positions(($1::text)::bigint[], (task."id")::bigint)) as position, task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = any(($2::text)::bigint[]) ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select listed.position as position, task.`id` as own_id, task.`stage` as own_stage from `tasks` as task, json_table(?, '$[*]' columns (position for ordinality, v bigint path '$')) as listed where task.`id` = listed.v ) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id limit 18446744073709551615;


-- findMany latest holders

-- sqlite: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select listed.key + 1 as position, task."id" as own_id, task."stage" as own_stage from "tasks" as task, json_each(?) as listed where task."id" = listed.value ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: {"one","two","three"}, {"one","two","three"}
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select unnest(array_positions(($1::text)::bigint[], (task."id")::bigint)) as position, task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = any(($2::text)::bigint[]) ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select listed.position as position, task.`id` as own_id, task.`stage` as own_stage from `tasks` as task, json_table(?, '$[*]' columns (position for ordinality, v bigint path '$')) as listed where task.`id` = listed.v ) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id limit 18446744073709551615 lock in share mode;


-- findMany latest

-- sqlite: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from (select listed.key + 1 as position, task."id" as own_id, task."stage" as own_stage from "tasks" as task, json_each(?) as listed where task."id" = listed.value ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- postgres: {"one","two","three"}, {"one","two","three"}
select found.own_id as own_id, found.own_stage, found.position, fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from (select unnest(array_positions(($1::text)::bigint[], (task."id")::bigint)) as position, task."id" as own_id, (task."stage")::text as own_stage from "tasks" as task where task."id" = any(($2::text)::bigint[]) ) as found left join "transition_lease" on "transition_lease".task_id = found.own_id;

-- mysql: ["one","two","three"]
select found.own_id as own_id, found.own_stage, found.position, fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from (select listed.position as position, task.`id` as own_id, task.`stage` as own_stage from `tasks` as task, json_table(?, '$[*]' columns (position for ordinality, v bigint path '$')) as listed where task.`id` = listed.v lock in share mode) as found left join `transition_lease` on `transition_lease`.task_id = found.own_id limit 18446744073709551615 lock in share mode;
