import { toId } from '../../src/core/id.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { Claim, Found } from '../claim.ts';
import type { ProofEnvironment } from '../environment.ts';
import { notOfVersion, runToolExecutions, type ToolReceiver } from '../tool-executions.ts';

/**
 * A round kills a worker before or after a statement of the loop, cuts the connection of the statement, or lets it arrive after another
 * worker has taken over, under executions whose tools also break their connections before, during and after their answers. Some models
 * ask for a tool that their version does not have, and for more turns than they may take.
 */
export const toolOnce: Claim = {
  name: 'tool-once',
  description:
    'A call of a tool that is not safe has at most one effect, and each unknown outcome is on record',
  rounds: { test: 3, short: 16, full: 200 },
  roundsPerEnvironment: 50,
  faults: [
    {
      name: 'dispatch-after-send',
      description: 'a later call of a turn is sent while it is on record as ready',
      file: 'engine/tools/step-writes.ts',
      find: "set state = 'dispatched', sent = s.sent + (s.state = 'ready')::int,",
      replace: 'set',
      rounds: 8,
    },
    {
      name: 'unfenced-step',
      description: 'a step is written without the claim of its execution',
      file: 'engine/tools/step-writes.ts',
      find: 'join locked l on l.id = i.execution_id and l.worker = i.worker and',
      replace: 'join locked l on l.id = i.execution_id or l.id = i.execution_id and',
      // In the fifth the turn of a worker arrives after another one has taken over.
      rounds: 5,
    },
    {
      name: 'resent-unknown',
      description: 'a call of a lost worker counts as not sent',
      file: 'engine/tools/tool-calls.ts',
      find: 'await this.#settle(call, settleUnknown(call));',
      replace: 'await this.#settle(call, settle(call, unsent));',
    },
    {
      name: 'borrowed-tool',
      description: 'a tool that the version does not have is called if its server has it',
      file: 'core/tools/call-state.ts',
      find: 'return tools.find((tool) => tool.name === name);',
      replace:
        'return tools.find((tool) => tool.name === name) ?? { ...tools[0], name, tool: name };',
    },
    {
      name: 'endless-turns',
      description: 'the limit of turns is not checked',
      file: 'core/tools/call-state.ts',
      find: 'if (n >= maxTurns)',
      replace: 'if (false)',
    },
  ],
  prove,
};

async function prove(environment: ProofEnvironment, rounds: number): Promise<Found> {
  const { faults, accepted, receiver, violations } = await runToolExecutions(environment, {
    ...{ rounds, strikes: ['killed', 'expired', 'cut'] },
  });
  const { counts, found } = await checkEffects(environment.db, receiver);
  return { counts: { accepted, ...counts, ...faults }, violations: [...violations, ...found] };
}

interface StoredCall {
  readonly toolCallId: string;
  readonly state: string;
  readonly sent: number;
  readonly safe: boolean;
  readonly isError: boolean;
}

async function checkEffects(db: Db, { calls }: ToolReceiver) {
  const { rows } = await sql<StoredCall>`
    select tool_call_id, state, sent, safe, is_error from execution_steps where part > 0`.execute(
    db,
  );
  const stored = new Map(rows.map((row) => [toId('toolCall', row.toolCallId), row]));
  const found: string[] = [];
  for (const [id, { tool, requests, effects }] of calls) {
    const row = stored.get(id);
    if (tool === notOfVersion) found.push(`${id}: a call of a tool that the version does not have`);
    else if (!row) found.push(`${id}: a request of a call that is not on record`);
    else if (!row.safe && effects > 1) found.push(`${id}: ${effects} effects`);
    else if (effects > 0 && row.sent === 0)
      found.push(`${id}: an effect of a call that was not sent`);
    else if (row.safe && requests > 3 + refusals) found.push(`${id}: ${requests} requests`);
  }
  for (const [id, { state, safe, isError }] of stored) {
    const effects = calls.get(id)?.effects ?? 0;
    if (state === 'ready' || state === 'dispatched') found.push(`${id}: still ${state}`);
    if (state === 'done' && !isError && effects === 0) found.push(`${id}: a result without effect`);
    if (state === 'canceled' && effects > 0 && !safe) found.push(`${id}: canceled with an effect`);
  }
  const { rows: wrong } = await sql<{ id: string }>`
    select e.id from executions e
    where (e.error_code is not distinct from 'TOOL_OUTCOME_UNKNOWN') <> exists (
      select from execution_steps s where s.execution_id = e.id and s.state = 'unknown')`.execute(
    db,
  );
  found.push(...wrong.map(({ id }) => `${id}: its record does not say what its calls do`));
  const { rows: endless } = await sql<{ id: string }>`
    select e.id from executions e join agents a on a.id = e.agent_id
    where e.turns > 1 + (a.config -> 'tools' ->> 'maxTurns')::int`.execute(db);
  found.push(
    ...endless.map(({ id }) => `${id}: more turns than its limit, and the one without tools`),
  );
  const unknown = rows.filter(({ state }) => state === 'unknown').length;
  return { counts: { calls: calls.size, unknown }, found };
}

/** A request that the receiver refused was none of the three. */
const refusals = 20;
