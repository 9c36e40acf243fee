-- fenced

-- sqlite: next, note, taskId, expected, taskId, claim
update "tasks" set "stage" = ?, "updated_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch'), "note" = ? where "id" = ? and "stage" is ? collate binary and exists (select 1 from "transition_lease" where "task_id" = ? and "claim" = ? ) returning "stage" as stage;

-- postgres: next, note, taskId, expected, taskId, claim
update "tasks" set "stage" = $1, "updated_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "note" = $2 where "id" = ($3)::bigint and ("stage")::text collate "C" is not distinct from ($4)::text collate "C" and exists (select 1 from "transition_lease" where "task_id" = $5 and "claim" = $6 for key share) returning ("stage")::text as stage;

-- mysql: next, note, taskId, expected, taskId, claim
update `tasks` set `stage` = ?, `updated_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000'), `note` = ? where `id` = ? and cast(convert(`stage` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and exists (select 1 from `transition_lease` where `task_id` = ? and `claim` = ? lock in share mode) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- free

-- sqlite: next, taskId, expected, taskId
update "tasks" set "stage" = ?, "updated_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "id" = ? and "stage" is ? collate binary and not exists (select 1 from "transition_lease" where "task_id" = ?) returning "stage" as stage;

-- postgres: next, taskId, expected, taskId
update "tasks" set "stage" = $1, "updated_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "id" = ($2)::bigint and ("stage")::text collate "C" is not distinct from ($3)::text collate "C" and not exists (select 1 from "transition_lease" where "task_id" = $4) returning ("stage")::text as stage;

-- mysql: next, taskId, expected, taskId
update `tasks` set `stage` = ?, `updated_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where `id` = ? and cast(convert(`stage` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and not exists (select 1 from `transition_lease` where `task_id` = ?) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- expected

-- sqlite: next, taskId, expected
update "tasks" set "stage" = ?, "updated_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "id" = ? and "stage" is ? collate binary returning "stage" as stage;

-- postgres: next, taskId, expected
update "tasks" set "stage" = $1, "updated_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "id" = ($2)::bigint and ("stage")::text collate "C" is not distinct from ($3)::text collate "C" returning ("stage")::text as stage;

-- mysql: next, taskId, expected
update `tasks` set `stage` = ?, `updated_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where `id` = ? and cast(convert(`stage` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- none

-- sqlite: next, taskId
update "tasks" set "stage" = ?, "updated_at" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "id" = ?;

-- postgres: next, taskId
update "tasks" set "stage" = $1, "updated_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "id" = ($2)::bigint;

-- mysql: next, taskId
update `tasks` set `stage` = ?, `updated_at` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where `id` = ?;


-- readStage

-- sqlite: taskId
select "stage" as stage from "tasks" where "id" = ?;

-- postgres: taskId
select ("stage")::text as stage from "tasks" where "id" = ($1)::bigint;

-- mysql: taskId
select `stage` as stage from `tasks` where `id` = ?;


-- readLatestStage

-- sqlite: taskId
select "stage" as stage from "tasks" where "id" = ?;

-- postgres: taskId
select ("stage")::text as stage from "tasks" where "id" = ($1)::bigint;

-- mysql: taskId
select `stage` as stage from `tasks` where `id` = ? lock in share mode;


-- fencedAndReleased

-- postgres: next, note, taskId, expected, taskId, claim, taskId, claim
with written as (update "tasks" set "stage" = $1, "updated_at" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "note" = $2 where "id" = ($3)::bigint and ("stage")::text collate "C" is not distinct from ($4)::text collate "C" and exists (select 1 from "transition_lease" where "task_id" = $5 and "claim" = $6 for key share) returning ("stage")::text as stage), released as (delete from "transition_lease" where task_id = $7 and claim = $8 and exists (select 1 from written)) select stage from written;
