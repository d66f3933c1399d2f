import type { StoredVariables } from '../../core/agent/stored-files.ts';
import { uuid7 } from '../../core/id.ts';
import type { Send } from '../../db/pipeline.ts';
import { statement } from '../../db/statement.ts';
import { begin } from '../../db/statements.ts';

/**
 * Long contents of a call are written before its admission locks anything: in the same transaction, but in a round trip before the
 * others, as a row of the queue that has nothing else yet. An accepted execution then becomes that row, which leaves the contents
 * where they are, and takes no time for their length. The row of a call that is not accepted is deleted again. Nobody else ever
 * sees it, because it commits only with the execution.
 */
export interface StagedContents extends Pick<StoredVariables, 'json' | 'fileData'> {
  /** Of the row. */
  readonly id: string;
}

/** Begins the transaction. */
export async function stageContents(
  send: Send,
  { json, fileData }: StoredVariables,
): Promise<StagedContents> {
  const staged = { id: uuid7(0), json, fileData };
  await Promise.all([send(begin), send(insertStaged, staged)]);
  return staged;
}

// It waits for a slot of no agent, so that it is in no index of those that are ready.
const insertStaged = statement<StagedContents>('admission-stage-contents')`
  insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, executed_at, tag, source, has_slot, agent_name,
    prompt_version_label, model, settings, input_variables, file_data)
  select id, id, id, id, to_timestamp(0), 0, 'api', false, '', '', '', '{}',
    ${({ json }) => json}::json, ${({ fileData }) => fileData}::json
  from (values (${({ id }) => id}::uuid)) as row (id)`;

export const deleteStaged = statement<StagedContents>('admission-delete-staged')`
  delete from execution_queue where id = ${({ id }) => id}`;
