import type { ExecutedTool } from '../src/core/tools/executed-tool.ts';
import type { ToolOutcome, ToolPort, ToolRequest } from '../src/core/tools/tool-port.ts';
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
export function echoOf(...turns: readonly (readonly [name: string, given: object][])[]): string {
  const query = turns.map((calls) => {
    const text = calls.map(([name, given]) => `${name}:${JSON.stringify(given)}`).join(',');
    return `tools=${encodeURIComponent(text)}`;
  });
  return `cueline/echo?${query.join('&')}`;
}

type Answer = ToolOutcome | ((request: ToolRequest) => ToolOutcome | Promise<ToolOutcome>);

export const toolResult = (result: string, isError = false): ToolOutcome => {
  return { kind: 'done', result, resultJson: null, isError };
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
