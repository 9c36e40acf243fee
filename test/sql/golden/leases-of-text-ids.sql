-- readHolder

-- sqlite: taskId
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" = ?;

-- postgres: taskId
select fencing_token, "claim", ("task_id")::text as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, ("run_id")::text as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = $1;

-- mysql: taskId
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` = ?;


-- readHolders

-- sqlite: list
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" in (select value from json_each(?));

-- postgres: list
select fencing_token, "claim", ("task_id")::text as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, ("run_id")::text as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = any(($1::text)::text[]);

-- mysql: list
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` in (select `in:list`.v from json_table(?, '$[*]' columns (v varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$')) as `in:list`) limit 18446744073709551615;


-- insertMany

-- sqlite: pid, bootId, host, start, list
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, given.task_id, given.owner, ?, ?, ?, ?, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + min(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock, (with each as materialized (select key, value from json_each(?)) select key + 1 as position, value ->> '$.claim' as "claim", value ->> '$.task_id' as "task_id", value ->> '$.owner' as "owner", value ->> '$.run_id' as "run_id", value ->> '$.stage' as "stage", value ->> '$.any_stage' as "any_stage", value ->> '$.ttl_ms' as "ttl_ms", value ->> '$.max_hold_ms' as "max_hold_ms" from each) as given where not exists (select 1 from "transition_lease" as taken where "task_id" = given.task_id) order by given.position on conflict ("task_id") do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- postgres: pid, bootId, host, start, list
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, given.task_id, given.owner, $1, $2, $3, $4, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + least((given.ttl_ms)::bigint, (given.max_hold_ms)::bigint), clock.now_ms + given.max_hold_ms from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock, rows from (jsonb_to_recordset(($5::text)::jsonb) as ("claim" text, "task_id" text, "owner" text, "run_id" text, "stage" text, "any_stage" bigint, "ttl_ms" bigint, "max_hold_ms" bigint)) with ordinality as given ("claim", "task_id", "owner", "run_id", "stage", "any_stage", "ttl_ms", "max_hold_ms", "position") order by given.position on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- mysql: pid, bootId, host, start, list
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) select given.claim, given.task_id, given.owner, ?, ?, ?, ?, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + least(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms) as clock, json_table(?, '$[*]' columns (position for ordinality, `claim` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.claim', `task_id` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.task_id', `owner` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.owner', `run_id` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.run_id', `stage` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.stage', `any_stage` bigint path '$.any_stage', `ttl_ms` bigint path '$.ttl_ms', `max_hold_ms` bigint path '$.max_hold_ms')) as given where 9223372036854775807 + (not @@session.autocommit = 1) > 0 order by given.position;
