import { defaultLabel } from '../../../core/agent/version-label.ts';
import type { Db } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The next version of a prompt or a workflow. */
interface NextVersion {
  readonly number: number;
  /** The default label, which no other version has. */
  readonly label: string;
}

/** Valid only while the prompt or workflow is locked. */
export async function nextVersion(
  db: Db,
  of: 'prompt' | 'workflow',
  id: string,
): Promise<NextVersion> {
  const versions = sql.table(`${of}_versions`);
  const owner = sql.ref(`${of}_id`);
  const { rows } = await sql<{ number: number; existing: string[] }>`
    select number, array(
      select label from ${versions}
      where ${owner} = ${id} and starts_with(label, 'v' || next.number)) as existing
    from (
      select coalesce(max(number), 0) + 1 as number from ${versions} where ${owner} = ${id}) as next`.execute(
    db,
  );
  const { number, existing } = rows[0] ?? { number: 1, existing: [] };
  return { number, label: defaultLabel(number, new Set(existing)) };
}
