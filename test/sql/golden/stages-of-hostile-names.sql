-- fenced

-- sqlite: next, x, taskId, expected, taskId, claim
update "order ""x"" `y`" set "sta""ge`; --" = ?, "at""`" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch'), "no""te`" = ? where "i""d`" = ? and "sta""ge`; --" is ? collate binary and exists (select 1 from "transition_lease" where "task_id" = ? and "claim" = ? ) returning "sta""ge`; --" as stage;

-- postgres: next, x, taskId, expected, taskId, claim
update "order ""x"" `y`" set "sta""ge`; --" = $1, "at""`" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "no""te`" = $2 where "i""d`" = $3 and ("sta""ge`; --")::text collate "C" is not distinct from ($4)::text collate "C" and exists (select 1 from "transition_lease" where "task_id" = $5 and "claim" = $6 for key share) returning ("sta""ge`; --")::text as stage;

-- mysql: next, x, taskId, taskId, expected, taskId, claim
update `order "x" ``y``` set `sta"ge``; --` = ?, `at"``` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000'), `no"te``` = ? where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary))) and cast(convert(`sta"ge``; --` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and exists (select 1 from `transition_lease` where `task_id` = ? and `claim` = ? lock in share mode) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- free

-- sqlite: next, taskId, expected, taskId
update "order ""x"" `y`" set "sta""ge`; --" = ?, "at""`" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "i""d`" = ? and "sta""ge`; --" is ? collate binary and not exists (select 1 from "transition_lease" where "task_id" = ?) and not exists (select 1 from "transition_lease" where "task_id" = cast("order ""x"" `y`"."i""d`" as text)) returning "sta""ge`; --" as stage;

-- postgres: next, taskId, expected, taskId
update "order ""x"" `y`" set "sta""ge`; --" = $1, "at""`" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "i""d`" = $2 and ("sta""ge`; --")::text collate "C" is not distinct from ($3)::text collate "C" and not exists (select 1 from "transition_lease" where "task_id" = $4) and not exists (select 1 from "transition_lease" where "task_id" = ("order ""x"" `y`"."i""d`")::text collate "C") returning ("sta""ge`; --")::text as stage;

-- mysql: next, taskId, taskId, expected, taskId
update `order "x" ``y``` set `sta"ge``; --` = ?, `at"``` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary))) and cast(convert(`sta"ge``; --` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and not exists (select 1 from `transition_lease` where `task_id` = ?) and not exists (select 1 from `transition_lease` where `task_id` = convert(`order "x" ``y```.`i"d``` using utf8mb4) /*!80017 collate utf8mb4_0900_bin */ /*M!100201 collate utf8mb4_nopad_bin */) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- expected

-- sqlite: next, taskId, expected
update "order ""x"" `y`" set "sta""ge`; --" = ?, "at""`" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "i""d`" = ? and "sta""ge`; --" is ? collate binary returning "sta""ge`; --" as stage;

-- postgres: next, taskId, expected
update "order ""x"" `y`" set "sta""ge`; --" = $1, "at""`" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "i""d`" = $2 and ("sta""ge`; --")::text collate "C" is not distinct from ($3)::text collate "C" returning ("sta""ge`; --")::text as stage;

-- mysql: next, taskId, taskId, expected
update `order "x" ``y``` set `sta"ge``; --` = ?, `at"``` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary))) and cast(convert(`sta"ge``; --` using utf8mb4) as binary) <=> cast(convert(? using utf8mb4) as binary) and 9223372036854775807 + (not @@session.autocommit = 1) > 0;


-- none

-- sqlite: next, taskId
update "order ""x"" `y`" set "sta""ge`; --" = ?, "at""`" = strftime('%Y-%m-%d %H:%M:%f', cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) / 1000.0, 'unixepoch') where "i""d`" = ?;

-- postgres: next, taskId
update "order ""x"" `y`" set "sta""ge`; --" = $1, "at""`" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000) where "i""d`" = $2;

-- mysql: next, taskId, taskId
update `order "x" ``y``` set `sta"ge``; --` = ?, `at"``` = timestampadd(microsecond, (cast((unix_timestamp(sysdate(3)) + @@timestamp - unix_timestamp(now(6))) * 1000 as signed)) * 1000, '1970-01-01 00:00:00.000') where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary)));


-- readStage

-- sqlite: taskId
select "sta""ge`; --" as stage from "order ""x"" `y`" where "i""d`" = ?;

-- postgres: taskId
select ("sta""ge`; --")::text as stage from "order ""x"" `y`" where "i""d`" = $1;

-- mysql: taskId, taskId
select `sta"ge``; --` as stage from `order "x" ``y``` where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary)));


-- readLatestStage

-- sqlite: taskId
select "sta""ge`; --" as stage from "order ""x"" `y`" where "i""d`" = ?;

-- postgres: taskId
select ("sta""ge`; --")::text as stage from "order ""x"" `y`" where "i""d`" = $1;

-- mysql: taskId, taskId
select `sta"ge``; --` as stage from `order "x" ``y``` where (`i"d``` = ? and (collation(`i"d```) <> 'binary' or cast(convert(`i"d``` using utf8mb4) as binary) = cast(convert(? using utf8mb4) as binary))) lock in share mode;


-- fencedAndReleased

-- postgres: next, x, taskId, expected, taskId, claim, taskId, claim
with written as (update "order ""x"" `y`" set "sta""ge`; --" = $1, "at""`" = to_timestamp((cast(extract(epoch from clock_timestamp()) * 1000 as bigint))::double precision / 1000), "no""te`" = $2 where "i""d`" = $3 and ("sta""ge`; --")::text collate "C" is not distinct from ($4)::text collate "C" and exists (select 1 from "transition_lease" where "task_id" = $5 and "claim" = $6 for key share) returning ("sta""ge`; --")::text as stage), released as (delete from "transition_lease" where task_id = $7 and claim = $8 and exists (select 1 from written)) select stage from written;
