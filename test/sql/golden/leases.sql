-- insert

-- sqlite: claim, taskId, actor, pid, bootId, host, start, runId, stage, ttlMs, ttlMs, maxHoldMs, maxHoldMs, taskId
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, clock.now_ms, clock.now_ms + min(?, ?), clock.now_ms + ? from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock where not exists (select 1 from "transition_lease" as taken where "task_id" = ?) on conflict ("task_id") do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- postgres: claim, taskId, actor, pid, bootId, host, start, runId, stage, ttlMs, ttlMs, maxHoldMs, maxHoldMs
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock.now_ms, clock.now_ms + least(($11)::bigint, ($12)::bigint), clock.now_ms + $13 from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- mysql: claim, taskId, actor, pid, bootId, host, start, runId, stage, ttlMs, ttlMs, maxHoldMs, maxHoldMs
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, case when 9223372036854775807 + (not @@session.autocommit = 1) > 0 then cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) end, acquired_ms + least(?, ?), acquired_ms + ?);


-- insertMany

-- sqlite: pid, bootId, host, start, list
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, given.task_id, given.owner, ?, ?, ?, ?, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + min(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms) as clock, (with each as materialized (select key, value from json_each(?)) select key + 1 as position, value ->> '$.claim' as "claim", value ->> '$.task_id' as "task_id", value ->> '$.owner' as "owner", value ->> '$.run_id' as "run_id", value ->> '$.stage' as "stage", value ->> '$.any_stage' as "any_stage", value ->> '$.ttl_ms' as "ttl_ms", value ->> '$.max_hold_ms' as "max_hold_ms" from each) as given where not exists (select 1 from "transition_lease" as taken where "task_id" = given.task_id) order by given.position on conflict ("task_id") do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- postgres: pid, bootId, host, start, list
insert into "transition_lease" ("claim", "task_id", "owner", "owner_pid", "owner_boot_id", "owner_host", "owner_start", "run_id", "stage", "ttl_ms", "acquired_ms", "expires_ms", "deadline_ms") select given.claim, given.task_id, given.owner, $1, $2, $3, $4, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + least((given.ttl_ms)::bigint, (given.max_hold_ms)::bigint), clock.now_ms + given.max_hold_ms from (select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms) as clock, rows from (jsonb_to_recordset(($5::text)::jsonb) as ("claim" text, "task_id" bigint, "owner" text, "run_id" bigint, "stage" text, "any_stage" bigint, "ttl_ms" bigint, "max_hold_ms" bigint)) with ordinality as given ("claim", "task_id", "owner", "run_id", "stage", "any_stage", "ttl_ms", "max_hold_ms", "position") order by given.position on conflict do nothing returning fencing_token, "claim", acquired_ms, expires_ms, deadline_ms;

-- mysql: pid, bootId, host, start, list
insert ignore into `transition_lease` (`claim`, `task_id`, `owner`, `owner_pid`, `owner_boot_id`, `owner_host`, `owner_start`, `run_id`, `stage`, `ttl_ms`, `acquired_ms`, `expires_ms`, `deadline_ms`) select given.claim, given.task_id, given.owner, ?, ?, ?, ?, given.run_id, given.stage, given.ttl_ms, clock.now_ms, clock.now_ms + least(given.ttl_ms, given.max_hold_ms), clock.now_ms + given.max_hold_ms from (select cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms) as clock, json_table(?, '$[*]' columns (position for ordinality, `claim` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.claim', `task_id` bigint path '$.task_id', `owner` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.owner', `run_id` bigint path '$.run_id', `stage` varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$.stage', `any_stage` bigint path '$.any_stage', `ttl_ms` bigint path '$.ttl_ms', `max_hold_ms` bigint path '$.max_hold_ms')) as given where 9223372036854775807 + (not @@session.autocommit = 1) > 0 order by given.position;


-- readHolder

-- sqlite: taskId
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" = ?;

-- postgres: taskId
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = $1;

-- mysql: taskId
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` = ?;


-- readLatestHolder

-- sqlite: taskId
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" = ?;

-- postgres: taskId
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = $1;

-- mysql: taskId
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` = ? lock in share mode;


-- readHolders

-- sqlite: list
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" in (select value from json_each(?));

-- postgres: list
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = any(($1::text)::bigint[]);

-- mysql: list
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` in (select `in:list`.v from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list`) limit 18446744073709551615;


-- readLatestHolders

-- sqlite: list
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" in (select value from json_each(?));

-- postgres: list
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = any(($1::text)::bigint[]);

-- mysql: list
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` in (select `in:list`.v from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list`) limit 18446744073709551615 lock in share mode;


-- readPage

-- sqlite: after, limit
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where fencing_token > ? order by fencing_token limit ?;

-- postgres: after, limit
select fencing_token, "claim", "task_id" as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, "run_id" as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where fencing_token > $1 order by fencing_token limit $2;

-- mysql: after, limit
select fencing_token, `claim`, `task_id` as task_id, owner, owner_pid, owner_boot_id, owner_host, owner_start, `run_id` as run_id, stage, acquired_ms, expires_ms, ttl_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where fencing_token > ? order by fencing_token limit ?;


-- renew

-- sqlite: tokens, claims
update "transition_lease" set expires_ms = min(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) + ttl_ms, deadline_ms) where "fencing_token" in (select value from json_each(?)) and "claim" in (select value from json_each(?)) returning "claim", expires_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms;

-- postgres: tokens, claims
update "transition_lease" set expires_ms = least((cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + ttl_ms)::bigint, (deadline_ms)::bigint) where "fencing_token" in (select "fencing_token" from "transition_lease" where "fencing_token" = any(($1::text)::bigint[]) and "claim" = any(($2::text)::text[]) order by "fencing_token" for no key update skip locked) returning "claim", expires_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms;

-- mysql: tokens, claims
update (select `fencing_token` as k from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:list`.v where `claim` in (select `in:list`.v from json_table(?, '$[*]' columns (v varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$')) as `in:list`) and 9223372036854775807 + (not @@session.autocommit = 1) > 0 limit 18446744073709551615 for update skip locked) as `in:lock` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:lock`.k set expires_ms = least(cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) + ttl_ms, deadline_ms);


-- lowerExpiry

-- sqlite: tokens, claims, expiry
update "transition_lease" set expires_ms = min(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) + ttl_ms, deadline_ms) where "fencing_token" in (select value from json_each(?)) and "claim" in (select value from json_each(?)) and expires_ms = ? and expires_ms > cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) + 2 * ttl_ms;

-- postgres: tokens, claims, expiry
update "transition_lease" set expires_ms = least((cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + ttl_ms)::bigint, (deadline_ms)::bigint) where "fencing_token" in (select "fencing_token" from "transition_lease" where "fencing_token" = any(($1::text)::bigint[]) and "claim" = any(($2::text)::text[]) and expires_ms = $3 and expires_ms > cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + 2 * ttl_ms order by "fencing_token" for no key update skip locked);

-- mysql: tokens, claims, expiry
update (select `fencing_token` as k from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:list`.v where `claim` in (select `in:list`.v from json_table(?, '$[*]' columns (v varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$')) as `in:list`) and expires_ms = ? and expires_ms > cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) + 2 * ttl_ms and 9223372036854775807 + (not @@session.autocommit = 1) > 0 limit 18446744073709551615 for update skip locked) as `in:lock` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:lock`.k set expires_ms = least(cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) + ttl_ms, deadline_ms);


-- extend

-- sqlite: maxHoldMs, maxHoldMs, taskId, claim
update "transition_lease" set deadline_ms = acquired_ms + ?, expires_ms = min(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) + ttl_ms, acquired_ms + ?) where "task_id" = ? and "claim" = ? and deadline_ms > cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) returning expires_ms, deadline_ms;

-- postgres: maxHoldMs, maxHoldMs, taskId, claim
update "transition_lease" set deadline_ms = acquired_ms + $1, expires_ms = least((cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + ttl_ms)::bigint, (acquired_ms + $2)::bigint) where "task_id" = $3 and "claim" = $4 and deadline_ms > cast(extract(epoch from clock_timestamp()) * 1000 as bigint) returning expires_ms, deadline_ms;

-- mysql: maxHoldMs, maxHoldMs, taskId, claim
update `transition_lease` set deadline_ms = acquired_ms + ?, expires_ms = least(cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) + ttl_ms, acquired_ms + ?) where `task_id` = ? and `claim` = ? and deadline_ms > cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- readTokens

-- sqlite: tokens
select "claim", acquired_ms, expires_ms, deadline_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "fencing_token" in (select value from json_each(?));

-- postgres: tokens
select "claim", acquired_ms, expires_ms, deadline_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "fencing_token" = any(($1::text)::bigint[]);

-- mysql: tokens
select `claim`, acquired_ms, expires_ms, deadline_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `fencing_token` in (select `in:list`.v from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list`) limit 18446744073709551615;


-- touch

-- sqlite
update "transition_lease" set owner = owner where fencing_token = 0;

-- postgres
update "transition_lease" set owner = owner where fencing_token = 0;

-- mysql
update `transition_lease` set owner = owner where fencing_token = 0;


-- confirm

-- sqlite: taskId, claim
select expires_ms, cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) as now_ms from "transition_lease" where "task_id" = ? and "claim" = ?;

-- postgres: taskId, claim
select expires_ms, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms from "transition_lease" where "task_id" = $1 and "claim" = $2 for key share;

-- mysql: taskId, claim
select expires_ms, cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed) as now_ms from `transition_lease` where `task_id` = ? and `claim` = ? lock in share mode;


-- release

-- sqlite: taskId, claim
delete from "transition_lease" where "task_id" = ? and "claim" = ? returning fencing_token;

-- postgres: taskId, claim
delete from "transition_lease" where "task_id" = $1 and "claim" = $2 returning fencing_token;

-- mysql: taskId, claim
delete from `transition_lease` where `task_id` = ? and `claim` = ? and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- discard

-- sqlite: claim
delete from "transition_lease" where "claim" = ?;

-- postgres: claim
delete from "transition_lease" where "claim" = $1;

-- mysql: claim
delete from `transition_lease` where `claim` = ? and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- releaseMany

-- sqlite: tokens, claims
delete from "transition_lease" where "fencing_token" in (select value from json_each(?)) and "claim" in (select value from json_each(?)) returning "claim";

-- postgres: tokens, claims
delete from "transition_lease" where "fencing_token" = any(($1::text)::bigint[]) and "claim" = any(($2::text)::text[]) returning "claim";

-- mysql: tokens, claims
delete from `transition_lease` where `fencing_token` in (select `in:list`.v from json_table(?, '$[*]' columns (v bigint path '$')) as `in:list`) and `claim` in (select `in:list`.v from json_table(?, '$[*]' columns (v varchar(255) character set utf8mb4 /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */ path '$')) as `in:list`) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- reclaim

-- sqlite: taskId, claim, expiry
delete from "transition_lease" where "task_id" = ? and "claim" = ? and expires_ms = ? returning fencing_token;

-- postgres: taskId, claim, expiry
delete from "transition_lease" where "fencing_token" in (select "fencing_token" from "transition_lease" where "task_id" = $1 and "claim" = $2 and expires_ms = $3 for update skip locked) returning fencing_token;

-- mysql: taskId, claim, expiry
delete `transition_lease` from (select `fencing_token` as k from `transition_lease` where `task_id` = ? and `claim` = ? and expires_ms = ? and 9223372036854775807 + (not @@session.autocommit = 1) > 0 limit 18446744073709551615 for update skip locked) as `in:lock` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:lock`.k;


-- findUnlocked

-- sqlite: taskId, claim
select "fencing_token" from "transition_lease" where "task_id" = ? and "claim" = ?;

-- postgres: taskId, claim
select "fencing_token" from "transition_lease" where "task_id" = $1 and "claim" = $2 for update skip locked;

-- mysql: taskId, claim
select `fencing_token` from `transition_lease` where `task_id` = ? and `claim` = ? for update skip locked;


-- takeAway

-- sqlite: taskId, claim
delete from "transition_lease" where "task_id" = ? and "claim" = ? returning fencing_token;

-- postgres: taskId, claim
delete from "transition_lease" where "fencing_token" in (select "fencing_token" from "transition_lease" where "task_id" = $1 and "claim" = $2 for update skip locked) returning fencing_token;

-- mysql: taskId, claim
delete `transition_lease` from (select `fencing_token` as k from `transition_lease` where `task_id` = ? and `claim` = ? and 9223372036854775807 + (not @@session.autocommit = 1) > 0 limit 18446744073709551615 for update skip locked) as `in:lock` straight_join `transition_lease` force index (primary) on `fencing_token` = `in:lock`.k;
