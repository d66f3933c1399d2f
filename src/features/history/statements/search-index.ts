import { setImmediate as immediate } from 'node:timers/promises';
import type { IdRange } from '../../../core/history/history-range.ts';
import {
  type TokenSets,
  tokenOf,
  tokensOf,
  tokensOfSearch,
} from '../../../core/history/search-tokens.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { aboveFloor, idBounds } from '../../../db/id-bounds.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { hasSearchedText } from '../../../engine/complete/search-changes.ts';
import { type HistoryRequest, searchedMax, searchedText } from './history-filter.ts';

/**
 * The search index. It finds the records that may match a search; the search then reads their texts.
 *
 * A transaction that writes a record with texts, or removes texts, appends the id to `search_changes`. A background round
 * takes these changes, many at once, and writes groups of records with the tokens of all of them to `search_groups`. Groups
 * instead of records, because texts of the same agent share most words. A mask beside each token tells which of the records
 * have it.
 *
 * Invariants
 * - In every snapshot, each record from `search_coverage` on is in a group or among the changes. So a search misses nothing,
 *   however far behind the index is.
 * - One transaction at a time writes groups, under an advisory lock. It takes a change and writes what follows from it.
 * - A record that is gone, or has lost its texts, is in no group once its change is done.
 *
 * Failure cases
 * - The round dies: its transaction is rolled back with its lock, and the changes remain for the next round.
 * - No round runs: the changes grow, and searches read the records of all of them. They stay exact and get slower.
 */

/** Advisory lock: one transaction at a time writes the index. */
const searchLock = 7_315_202_641;

/** A group holds this many records at most, the bits of a mask, and their texts. */
const groupIdsMax = 32;
const groupTokensMax = 20_000;
/** Bytes of texts, as stored, that one transaction reads; a single record may exceed them. */
const batchBytesMax = 2_000_000;

/** Where the first change may lie in its table. */
export const firstPosition = '(0,0)';

/**
 * Indexes up to `limit` changes that lie behind a position in their table, so that a long series of calls does not read past what
 * the earlier ones deleted. Returns the position of the last one; null if there are none, or while another process indexes.
 */
export function indexChanges(
  db: Db,
  limit: number,
  behind = firstPosition,
): Promise<string | null> {
  return inTransaction(db, async (trx) => {
    if (!(await lockIndex(trx))) return null;
    const { rows: changes } = await sql<{ at: string; id: string }>`
      select ctid::text as at, id from search_changes where ctid > ${behind}::tid limit ${limit}`.execute(
      trx,
    );
    const ids = [...new Set(changes.map(({ id }) => id))];
    if (ids.length === 0) return null;
    const { picked, left } = await pickRecords(trx, ids);
    await writeGroups(trx, picked);
    const indexed = new Set(picked);
    await forget(
      trx,
      ids.filter((id) => !indexed.has(id) && !left.has(id)),
    );
    const done = changes.filter(({ id }) => !left.has(id)).map(({ at }) => at);
    await sql`delete from search_changes where ctid = any(${done}::tid[])`.execute(trx);
    return left.size > 0 ? behind : (changes.at(-1)?.at ?? null);
  });
}

async function lockIndex(trx: Trx): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${searchLock}) as locked`.execute(trx);
  return rows[0]?.locked ?? false;
}

/** Those of these records that have texts: as many of the newest as one transaction can read, and the others. */
async function pickRecords(
  trx: Trx,
  ids: readonly string[],
): Promise<{ picked: string[]; left: Set<string> }> {
  const [lowest, highest] = idBounds(ids);
  const { rows } = await sql<{ id: string; fits: boolean }>`
    select id, sum(bytes) over (order by id desc) - bytes < ${batchBytesMax} as fits
    from (
      select e.id, coalesce(pg_column_size(e.output), 0) + coalesce(pg_column_size(e.partial_text), 0) + coalesce(pg_column_size(e.input_variables), 0) as bytes
      from executions e
      where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
        and ${aboveFloor} and ${hasSearchedText}) as sized`.execute(trx);
  return {
    picked: rows.filter(({ fits }) => fits).map(({ id }) => id),
    left: new Set(rows.filter(({ fits }) => !fits).map(({ id }) => id)),
  };
}

const longText = 16_384;

/** Writes these records to the index, in the order of their agents, so that a group has few of them. */
async function writeGroups(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const [lowest, highest] = idBounds(ids);
  const { rows } = await sql<{ id: string; agentId: string; text: string }>`
    select e.id, e.agent_id, ${searchedText} as text from executions e
    where e.id = any(${ids}::uuid[]) and e.id between ${lowest}::uuid and ${highest}::uuid
    order by e.agent_id, e.id`.execute(trx);
  const groups: Group[] = [];
  for (const row of rows) {
    // The tokens of a long text take milliseconds.
    if (row.text.length > longText) await immediate();
    const open = groups.at(-1);
    if (open && open.ids.length < groupIdsMax && open.tokens.size < groupTokensMax) {
      addRecord(open, row);
    } else {
      groups.push(addRecord({ ids: [], tokens: new Map() }, row));
    }
  }
  const bounds = groups.map((one) => idBounds(one.ids));
  const arrays = (read: (one: Group) => Iterable<string | number>) =>
    groups.map((one) => `{${[...read(one)].join()}}`);
  await sql`insert into search_groups (oldest, newest, ids, tokens, masks)
    select oldest, newest, ids::uuid[], tokens::integer[], masks::integer[]
    from unnest(${bounds.map(([oldest]) => oldest)}::uuid[], ${bounds.map(([, newest]) => newest)}::uuid[],
      ${arrays((one) => one.ids)}::text[], ${arrays((one) => one.tokens.keys())}::text[],
      ${arrays((one) => one.tokens.values())}::text[]) as g (oldest, newest, ids, tokens, masks)`.execute(
    trx,
  );
}

interface Group {
  readonly ids: string[];
  /** The mask of each token: bit n is the record at n. */
  readonly tokens: Map<number, number>;
}

/** Marks records that have more text than a search for words covers. */
const cutToken = tokenOf('cut', '');

function addRecord(
  group: Group,
  { id, agentId, text }: { id: string; agentId: string; text: string },
): Group {
  const bit = 1 << group.ids.length;
  group.ids.push(id);
  const { tokens } = group;
  const add = (token: number) => tokens.set(token, (tokens.get(token) ?? 0) | bit);
  add(tokenOf('execution', id));
  add(tokenOf('agent', agentId));
  for (const token of tokensOf(text)) add(token);
  if (text.length >= searchedMax) add(cutToken);
  return group;
}

/** Deletes the groups of records that are gone. Their other records become changes. */
async function forget(trx: Trx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  // PostgreSQL assumes that each token is in one of 200 groups, and for many tokens it would read all groups.
  await withoutScans.execute(trx);
  await sql`
    with gone as (
      delete from search_groups
      where tokens && ${ids.map((id) => tokenOf('execution', id))}::integer[] and ids && ${ids}::uuid[]
      returning ids)
    insert into search_changes (id)
    select distinct id from gone cross join unnest(ids) as id where id <> all(${ids}::uuid[]) order by id`.execute(
    trx,
  );
}

/** Deletes up to `limit` groups with records below the floor. Their other records become changes. Returns how many. */
export function forgetMonths(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    if (!(await lockIndex(trx))) return 0;
    const { rows } = await sql<{ gone: number }>`
      with floor as materialized (select id_floor(at) as id from history_floor),
      gone as (
        delete from search_groups where ctid = any(array(
          select ctid from search_groups where oldest < (select id from floor) limit ${limit}))
        returning ids),
      kept as (
        insert into search_changes (id)
        select id from gone cross join unnest(ids) as id where id >= (select id from floor))
      select count(*) as gone from gone`.execute(trx);
    return rows[0]?.gone ?? 0;
  });
}

/** Indexes up to `limit` records that the index does not cover yet, newest first. Returns how many; 0 if it covers all. */
export function extendCoverage(db: Db, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    if (!(await lockIndex(trx))) return 0;
    const from = await readCoverage(trx);
    if (from === everyId) return 0;
    const { rows } = await sql<{ id: string }>`
      select e.id from executions e
      where e.id < ${from}::uuid and ${aboveFloor} and ${hasSearchedText}
      order by e.id desc limit ${limit}`.execute(trx);
    const { picked } = await pickRecords(
      trx,
      rows.map(({ id }) => id),
    );
    await writeGroups(trx, picked);
    const next = picked.length === 0 ? everyId : picked.reduce((low, id) => (id < low ? id : low));
    await sql`update search_coverage set from_id = ${next}`.execute(trx);
    return picked.length;
  });
}

/** Deletes up to `limit` groups and changes. Returns whether there may be more. */
export function emptyIndex(db: Db, limit: number): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    if (!(await lockIndex(trx))) return false;
    await sql`update search_coverage set from_id = ${noId} where from_id <> ${noId}`.execute(trx);
    let deleted = 0;
    for (const table of ['search_groups', 'search_changes']) {
      const { rowCount } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} limit ${limit}))`.execute(trx);
      deleted += rowCount;
    }
    return deleted > 0;
  });
}

const everyId = '00000000-0000-0000-0000-000000000000';
const noId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The first id that the index covers. */
export async function readCoverage(trx: Db): Promise<string> {
  const { rows } = await sql<{ fromId: string }>`select from_id from search_coverage`.execute(trx);
  if (!rows[0]) throw new Error('The table search_coverage has no row.');
  return rows[0].fromId;
}

/** How long the oldest change has been waiting for the index, in seconds. */
export async function readSearchLag(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select greatest(0, coalesce(extract(epoch from clock_timestamp() - min(changed_at)), 0))::float8 as seconds
    from search_changes`.execute(db);
  return rows[0]?.seconds ?? 0;
}

/** What the index must be asked for these filters; null if it cannot help. */
export function tokenSetsOf({ contents }: HistoryRequest): TokenSets | null {
  if (contents === null) return null;
  const words = contents.words === null ? [[]] : tokensOfSearch(contents.words);
  const values = contents.variables.flatMap(({ value }) => tokensOfValue(value));
  if (words === null) return null;
  if (values.length === 0) return words[0]?.length === 0 ? null : words;
  // The words of a long record's variables may be missing.
  return words.flatMap((set) => [
    [...set, ...values],
    [...set, cutToken],
  ]);
}

/** An object or a list is compared as JSON, but indexed without its quotes and escapes. */
function tokensOfValue(value: string): number[] {
  return /^\s*[[{]/.test(value) ? [] : [...tokensOf(value)];
}

/** Records that may match. All others from `fromId` to the end of the range do not. */
export interface Candidates {
  readonly ids: readonly string[];
  readonly fromId: string;
  /** Whether so many groups match that groups are read by age, and not by their tokens. */
  readonly isFrequent: boolean;
}

interface CandidatesPage {
  readonly range: IdRange;
  /** How many to find at most. */
  readonly count: number;
  /** As the page before it returned. */
  readonly isFrequent: boolean;
}

/**
 * Finds the newest records of a range that may match, in the groups and among the changes. Of groups that begin before the
 * end of the range and end behind it, all are read, so that each call makes progress.
 *
 * The statements leave PostgreSQL one index each, because it cannot estimate how many groups have a token: one plan for
 * all would read the tokens of every group for a word that it takes for a frequent one.
 */
export async function findCandidates(
  trx: Trx,
  request: HistoryRequest,
  sets: TokenSets,
  page: CandidatesPage,
): Promise<Candidates> {
  await withoutScans.execute(trx);
  const rare = page.isFrequent ? null : await findByTokens(trx, request, sets, page);
  return rare ?? findByAge(trx, request, sets, page);
}

/**
 * For the rest of the transaction. Before PostgreSQL 18 a plan that must scan a table costs so much without scans that it
 * would be compiled.
 */
const withoutScans = sql`
  select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`;

/** Where more groups match, the newest of them are found sooner by reading one group after the other. */
const rareGroupsMax = 10_000;
/** To read the tokens of a group costs about as much as to read the texts of a few records. */
const recordsPerGroup = 4;
const groupsMax = ({ count }: CandidatesPage) => Math.ceil(count / recordsPerGroup);

interface Found {
  readonly ids: string[];
  readonly reached: string | null;
}

/** Null if too many groups match. */
async function findByTokens(
  trx: Trx,
  request: HistoryRequest,
  sets: TokenSets,
  page: CandidatesPage,
): Promise<Candidates | null> {
  const { fromId, toId } = page.range;
  const { rows } = await sql<Found & { isFrequent: boolean }>`
    with matching as materialized (
      select g.ctid as at, g.newest, g.oldest from search_groups g
      where (${hasAnyOf(sets)}) and g.tokens && ${agentTokens(request)}::integer[]
      limit ${rareGroupsMax + 1}),
    counted as materialized (select count(*) > ${rareGroupsMax} as is_frequent from matching),
    straddling as (select at from matching where newest >= ${toId}::uuid and oldest < ${toId}::uuid),
    below as materialized (
      select at, newest from matching where newest >= ${fromId}::uuid and newest < ${toId}::uuid
      order by newest desc limit ${groupsMax(page)}),
    done as (
      select g.ids, g.tokens, g.masks
      from (select at from straddling union all select at from below) as t
      join search_groups g on g.ctid = t.at
      where not (select is_frequent from counted)),
    ${foundIn(sql`done`, sets, page)},
      (select is_frequent from counted) as "isFrequent"`.execute(trx);
  const [row] = rows;
  return row && !row.isFrequent ? candidatesOf(row, page, false) : null;
}

async function findByAge(
  trx: Trx,
  request: HistoryRequest,
  sets: TokenSets,
  page: CandidatesPage,
): Promise<Candidates> {
  const { fromId, toId } = page.range;
  const { rows } = await sql<Found>`
    with below as materialized (
      select newest, ids, tokens, masks from search_groups
      where newest >= ${fromId}::uuid and newest < ${toId}::uuid
      order by newest desc limit ${groupsMax(page)}),
    straddling as materialized (
      select ids, tokens, masks from search_groups where newest >= ${toId}::uuid and oldest < ${toId}::uuid),
    matching as (
      select g.ids, g.tokens, g.masks
      from (select ids, tokens, masks from straddling union all select ids, tokens, masks from below) as g
      where ${isOfFewAgents(request)} and (${hasAnyOf(sets)})),
    ${foundIn(sql`matching`, sets, page)}`.execute(trx);
  const [row = { ids: [], reached: null }] = rows;
  return candidatesOf(row, page, true);
}

function candidatesOf(
  { ids, reached }: Found,
  { range, count }: CandidatesPage,
  isFrequent: boolean,
): Candidates {
  const last = ids.length < count ? reached : ids.at(-1);
  return { ids, fromId: last ?? range.fromId, isFrequent };
}

function agentTokens({ agentIds }: HistoryRequest): number[] {
  return agentIds.map((id) => tokenOf('agent', id));
}

const fewAgentsMax = 8;

/** SQL: group `g` may be of these agents. To compare each of its tokens with many would cost more than to read its records. */
function isOfFewAgents(request: HistoryRequest) {
  if (request.agentIds.length > fewAgentsMax) return sql`true`;
  return sql`g.tokens && ${agentTokens(request)}::integer[]`;
}

/** SQL: group `g` has all tokens of one of these sets. */
function hasAnyOf(sets: TokenSets) {
  return sql.join(
    sets.map((set) => sql`g.tokens @> ${set}::integer[]`),
    sql` or `,
  );
}

/**
 * SQL, the end of a statement: the records of these groups, and those among the changes. The groups of the page are in
 * `below`: if it is full, the next page continues at the newest record of its last group.
 */
function foundIn(groups: Sql, sets: TokenSets, page: CandidatesPage) {
  const { range, count } = page;
  return sql`
    reached as materialized (
      select newest as id from below
      where (select count(*) from below) = ${groupsMax(page)} order by newest limit 1),
    found as (
      select r.id from ${groups} g
      cross join lateral (select ${maskOf(sets)} as mask offset 0) as m
      cross join lateral unnest(g.ids) with ordinality as r (id, nth)
      where m.mask & (1 << (r.nth - 1)::integer) <> 0
      union select id from search_changes)
    select (select id from reached) as reached, array(
      select id from found
      where id >= coalesce((select id from reached), ${range.fromId}::uuid) and id < ${range.toId}::uuid
      order by id desc limit ${count}) as ids`;
}

/** Each token costs a search in all tokens of a group. */
const maskTokensMax = 8;

/** SQL: a bit for each record of group `g` that has all tokens of one of these sets; of a long set, the first tokens. */
function maskOf(sets: TokenSets) {
  const all = (set: readonly number[]) => {
    const masks = set
      .slice(0, maskTokensMax)
      .map((token) => `g.masks[array_position(g.tokens, ${token})]`);
    return masks.length === 0 ? '-1' : `coalesce(${masks.join(' & ')}, 0)`;
  };
  return sql.raw(`case when g.masks is null then -1 else ${sets.map(all).join(' | ')} end`);
}
