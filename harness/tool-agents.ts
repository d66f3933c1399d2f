import { fromId } from '../src/core/id.ts';
import type { ExecutedTool } from '../src/core/tools/executed-tool.ts';
import type { ToolOutcome, ToolPort, ToolRequest } from '../src/core/tools/tool-port.ts';
import { sql } from '../src/db/sql.ts';
import { type AgentOptions, addAgent, type TestAgent } from './agents.ts';
import { freshId } from './fresh-id.ts';
import type { Service } from './service.ts';

/** Agents whose versions execute tools, and tools inside the process. */

export function executedTool(tool: Partial<ExecutedTool> = {}): ExecutedTool {
  return {
    ...{ name: 'act', tool: 'act', server: freshId(), serverName: 'crm', digest: '0'.repeat(64) },
    inputSchema: { type: 'object', properties: { a: { type: 'integer' } } },
    ...{ approval: 'never', safe: false, bind: {}, resultLimit: 16_384, timeoutMs: 30_000 },
    ...tool,
  };
}

export function addToolAgent(
  service: Pick<Service, 'db' | 'workspaceId' | 'ownerId'>,
  executedTools: readonly ExecutedTool[],
  options: AgentOptions = {},
): Promise<TestAgent> {
  return addAgent(service, { user: '{{text}}', ...options, executedTools });
}

/** The name of a model that calls these tools, a list for each turn, and then answers. */
export function echoOf(
  ...turns: readonly (readonly (readonly [name: string, given: object])[])[]
): string {
  const query = turns.map((calls) => {
    const text = calls.map(([name, given]) => `${name}:${JSON.stringify(given)}`).join(',');
    return `tools=${encodeURIComponent(text)}`;
  });
  return `cueline/echo?${query.join('&')}`;
}

type Answer = ToolOutcome | ((request: ToolRequest) => ToolOutcome | Promise<ToolOutcome>);

export const toolResult = (result: string, isError = false): ToolOutcome => {
  return { kind: 'done', result, isError };
};

/** Answers `ok`, or follows the script. */
export interface ScriptedTools extends ToolPort {
  readonly requests: readonly ToolRequest[];
  script(...answers: readonly Answer[]): void;
}

export function scriptedTools(): ScriptedTools {
  const requests: ToolRequest[] = [];
  const answers: Answer[] = [];
  return {
    requests,
    script: (...more) => void answers.push(...more),
    async call(request) {
      requests.push(request);
      const answer = answers.shift() ?? toolResult('ok');
      return typeof answer === 'function' ? answer(request) : answer;
    },
  };
}

/** An answer with these calls. */
export const calling = (...calls: readonly (readonly [name: string, given: unknown])[]) => ({
  text: '',
  finishReason: 'tool-calls',
  toolCalls: calls.map(([name, given], index) => ({
    ...{ id: `call_${index + 1}`, name, arguments: given },
  })),
});

/** Takes an execution from its worker, as a sweep does once a process is lost. */
export async function loseWorker({ db }: Pick<Service, 'db'>, executionId: string): Promise<void> {
  await sql`
    update execution_queue set worker = null, losses = losses + 1, spent_known = false,
      available_at = clock_timestamp()
    where id = ${fromId('execution', executionId)}`.execute(db);
}

/** The turn, part, state, sent and result of its steps. */
export async function stepsOf(
  { db }: Pick<Service, 'db'>,
  executionId: string,
  result = 'result',
): Promise<unknown[][]> {
  const { rows } = await sql<Record<string, unknown>>`
    select n, part, state, sent, ${sql.raw(result)} as result from execution_steps
    where execution_id = ${fromId('execution', executionId)} order by n, part`.execute(db);
  return rows.map(({ n, part, state, sent, result: text }) => [n, part, state, sent, text]);
}
