/** What a store knows of the functions and views of its database. */
export interface KnownPure {
  /** Whether a function is known to change nothing. */
  isPure(name: string): boolean;
  /** Views that may change something when they are read. */
  readonly impureViews?: ReadonlySet<string>;
}

const reading = /^\s*(stream\s+)?(select|with|values|show|explain)\b/i;
const acting = /\b(insert|update|delete|merge|into|share|get_lock|release_lock)\b/i;

/** Whether a statement only reads. What locks rows, or calls a function that is not known to change nothing, does not. */
export function onlyReads(text: string, known: KnownPure = wellKnown): boolean {
  if (!reading.test(text)) return false;
  const bare = text.replace(/'[^']*'/g, "''");
  if (acting.test(bare)) return false;
  if (calledFunctions(bare).some((name) => !known.isPure(name))) return false;
  const views = known.impureViews;
  return views === undefined || views.size === 0 || !namesIn(bare).some((name) => views.has(name));
}

/** The functions that a text calls, in lower case: names before a bracket that are no words of SQL. */
export function calledFunctions(text: string): string[] {
  return [...text.matchAll(/(?:"([^"]+)"|`([^`]+)`|([a-z_][\w$]*))\s*\(/gi)]
    .map(([, quoted, ticked, plain]) => ({ name: (quoted ?? ticked ?? plain ?? '').toLowerCase(), plain }))
    .filter(({ name, plain }) => plain === undefined || !notFunctions.has(name))
    .map(({ name }) => name);
}

const namesIn = (text: string) => [...text.matchAll(/[a-z_][\w$]*/gi)].map(([name]) => name.toLowerCase());

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const notFunctions = words(`
  in values and or not exists any all some as on using over filter from join where select when then else case between by
  with distinct union except intersect limit offset having row array partition interval like is lateral materialized
  within group order varchar char character decimal numeric timestamp recursive cross inner left right
  coalesce nullif greatest least cast extract`);

const pureEverywhere = words(`
  count sum min max avg total abs round floor ceil ceiling mod sign length char_length octet_length lower upper trim
  ltrim rtrim substr substring replace concat concat_ws ifnull isnull if iif row_number rank dense_rank lag lead
  first_value last_value group_concat string_agg array_agg json_agg jsonb_agg json_object json_array json_extract
  json_each json_group_array json_group_object now current_timestamp unix_timestamp from_unixtime timestampdiff
  timestampadd date time datetime julianday strftime unixepoch typeof simulated_now_ms`);

/** What is known without asking the database; anything else may act. */
export const wellKnown: KnownPure = Object.freeze({ isPure: (name: string) => pureEverywhere.has(name) });
