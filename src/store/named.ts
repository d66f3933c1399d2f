import { type RawBuilder, sql } from 'kysely';

/** What a workspace has under a name of its own. */
export interface Named {
  readonly workspaceId: string;
  readonly name: string;
}

/** SQL: a list to join with, as `asked (workspace_id, name)`. */
export function askedFor(named: readonly Named[]): RawBuilder<unknown> {
  const workspaceIds = named.map(({ workspaceId }) => workspaceId);
  const names = named.map(({ name }) => name);
  return sql`unnest(${workspaceIds}::uuid[], ${names}::text[]) as asked (workspace_id, name)`;
}
