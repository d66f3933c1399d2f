import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';

/**
 * Triggers that record what the tables do not store: each claim of an execution; each time an execution leaves a process
 * before its end (`taken` if the same transaction deleted the process row, so that the process did not release it); its
 * final owner and the process that ended it; and the pool member of each process.
 */

export async function startJournal(db: Db): Promise<void> {
  await sql
    .raw(`
    create function proof_member() returns int language sql as
      $$ select substring(current_setting('application_name') from '^member-(\\d+)$')::int $$;

    create table proof_journal (execution uuid not null, worker uuid not null, attempt int not null,
      taken bool not null, charged int not null, failed int not null);
    create function proof_note() returns trigger language plpgsql as $$
    begin
      insert into proof_journal values (old.id, old.worker, old.attempt,
        not exists (select from workers w where w.id = old.worker),
        new.losses - old.losses, new.failures - old.failures);
      return null;
    end $$;
    create trigger proof_note after update on execution_queue for each row
      when (old.worker is not null and new.worker is distinct from old.worker)
      execute function proof_note();

    create table proof_claims (execution uuid not null, worker uuid not null, at timestamptz not null);
    create function proof_note_claim() returns trigger language plpgsql as $$
    begin
      insert into proof_claims values (new.id, new.worker, clock_timestamp());
      return null;
    end $$;
    create trigger proof_note_first_claim after insert on execution_queue for each row
      when (new.worker is not null) execute function proof_note_claim();
    create trigger proof_note_claim after update on execution_queue for each row
      when (new.worker is not null and (new.worker, new.attempt) is distinct from (old.worker, old.attempt))
      execute function proof_note_claim();

    create table proof_ends (execution uuid primary key, worker uuid not null, ended_by int);
    create function proof_note_end() returns trigger language plpgsql as $$
    begin
      insert into proof_ends values (old.id, old.worker, proof_member());
      return null;
    end $$;
    create trigger proof_note_end after delete on execution_queue for each row
      when (old.worker is not null) execute function proof_note_end();

    create table proof_workers (worker uuid primary key, member int);
    create function proof_note_worker() returns trigger language plpgsql as $$
    begin
      insert into proof_workers values (new.id, proof_member());
      return null;
    end $$;
    create trigger proof_note_worker after insert on workers for each row
      execute function proof_note_worker();`)
    .execute(db);
}

/** The `application_name` of a member's connections, by which the journal identifies it. */
export function memberName(member: number): string {
  return `member-${member}`;
}

/** The owners of an execution, by member number. */
export interface Ownership {
  /** The final owner, and the process that ended the execution. */
  readonly owner: number | null;
  readonly endedBy: number | null;
  /** Each claim, oldest first: the member (null if it is none) and the time by the wall clock. */
  readonly claims: readonly { readonly member: number | null; readonly epochMs: number }[];
}

/** By the stored id of the execution. */
export async function readOwnership(db: Db): Promise<Map<string, Ownership>> {
  const { rows } = await sql<{ execution: string } & Ownership>`
    select c.execution, o.member as owner, e.ended_by,
      json_agg(json_build_object('member', w.member, 'epochMs', extract(epoch from c.at) * 1000) order by c.at)::jsonb
        as claims
    from proof_claims c
      join proof_workers w on w.worker = c.worker
      left join proof_ends e on e.execution = c.execution
      left join proof_workers o on o.worker = e.worker
    group by c.execution, o.member, e.ended_by`.execute(db);
  return new Map(rows.map(({ execution, ...ownership }) => [execution, ownership]));
}

/** Compares the journal with the records. */
export async function checkJournal(db: Db): Promise<string[]> {
  const { rows: uncharged } = await sql`
    select execution, worker, attempt, taken, charged from proof_journal where taken <> (charged = 1)`.execute(
    db,
  );
  // An execution that ends because of its losses has no attempt after them.
  const { rows: miscounted } = await sql`
    select e.id, e.status, e.attempts, coalesce(j.lost, 0) as lost
    from executions e
    left join (
      select execution, sum(charged + failed) as lost from proof_journal group by execution) j on j.execution = e.id
    where (e.status = 'success' and e.attempts <> coalesce(j.lost, 0) + 1)
      or (e.status = 'failed' and e.attempts not between coalesce(j.lost, 0) and coalesce(j.lost, 0) + 1)`.execute(
    db,
  );
  return [
    ...uncharged.map((row) => `a loss was not counted: ${JSON.stringify(row)}`),
    ...miscounted.map((row) => `attempts differ from losses plus one: ${JSON.stringify(row)}`),
  ];
}

/** The number of executions that their owners released, and that were taken from lost processes. */
export async function countHandovers(db: Db): Promise<{ released: number; taken: number }> {
  const { rows } = await sql<{ released: number; taken: number }>`
    select count(*) filter (where not taken) as released, count(*) filter (where taken) as taken
    from proof_journal`.execute(db);
  return rows[0] ?? { released: 0, taken: 0 };
}
