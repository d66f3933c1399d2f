import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Execution } from '../../core/execution/execution-fields.ts';
import { type RefusedCall, refusalAdvice } from '../../core/execution/refusal-advice.ts';
import { isObject } from '../../core/is-object.ts';
import type { Caller } from '../../core/people/caller.ts';
import { visibleError } from '../../features/people/access/visible-resources.ts';
import type { WorkflowRunDetailRow } from '../../features/workflows/statements/workflow-history.ts';
import { toolResultBytesMax } from '../../http/contract/contract-limits.ts';
import type { Era } from './mcp-request.ts';

/** The results of tools: what an execution or a workflow run gave, or why a call was refused. */

/** Where a result is from. */
export type ResultLinks = { readonly statusUrl: string } & (
  | { readonly executionId: string }
  | { readonly workflowRunId: string }
);

/** The result of an ended execution. */
export function executionResult(
  row: Execution,
  links: ResultLinks,
  viewer: { readonly caller: Caller; readonly era: Era },
): CallToolResult {
  if (row.status !== 'success') {
    const error = visibleError(viewer.caller, row.error);
    return failedResult('execution', row.status, { ...row, error }, links);
  }
  if (row.toolCalls !== null) return textResult(`{"toolCalls":${row.toolCalls}}`, links);
  if (row.outputJson === null) return textResult(row.output ?? '', links);
  const result = textResult(row.outputJson, links);
  const structured: unknown = JSON.parse(row.outputJson);
  if (viewer.era === 'legacy' && !isObject(structured)) return result;
  // A client that knows the schema rejects a result without its structure, unless it is an error.
  if (result._meta?.truncated) return { ...result, isError: true };
  return { ...result, structuredContent: structured } as CallToolResult;
}

/** The result of an ended workflow run: its output, a text as it is and everything else as JSON. */
export function runResult(
  row: WorkflowRunDetailRow,
  links: ResultLinks,
  caller: Caller,
): CallToolResult {
  if (row.status !== 'success') {
    const error = visibleError(caller, row.error);
    return failedResult('workflow run', row.status, { ...row, error }, links);
  }
  const json = row.output ?? 'null';
  return textResult(json.startsWith('"') ? (JSON.parse(json) as string) : json, links);
}

interface Failure {
  readonly errorCode: string | null;
  readonly error: string | null;
}

function failedResult(
  what: string,
  status: string,
  { errorCode, error }: Failure,
  links: ResultLinks,
): CallToolResult {
  const text =
    status === 'canceled'
      ? `Canceled: the ${what} was canceled before it ended.`
      : `Failed with ${errorCode}: ${error} The ${what} has ended.`;
  const meta = { ...links, ...(errorCode !== null && { code: errorCode }) };
  return { content: [{ type: 'text', text }], isError: true, _meta: meta };
}

export function refusalResult(refused: RefusedCall, nowMs: number): CallToolResult {
  const { code, fields } = refused;
  const text = `Refused with ${code}: ${refusalAdvice(refused, nowMs)}`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { code, ...fields } };
}

/** The client has canceled the call, and its state cannot be read now. */
export function canceledResult(links: ResultLinks): CallToolResult {
  const text = `You canceled the call. Whether it had ended before is at ${links.statusUrl}.`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { ...links } };
}

/** The process shuts down before the execution or workflow run has ended. */
export function unfinishedResult(links: ResultLinks): CallToolResult {
  const text = `The server shuts down. The call was accepted and continues: read its result at ${links.statusUrl} instead of calling the tool again.`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { ...links } };
}

function textResult(text: string, links: ResultLinks): CallToolResult {
  const bytes = Buffer.byteLength(text);
  if (bytes <= toolResultBytesMax)
    return { content: [{ type: 'text', text }], _meta: { ...links } };
  const notice = `truncated: these are the first ${toolResultBytesMax} of ${bytes} bytes. The whole result is at ${links.statusUrl}.`;
  return {
    content: [
      { type: 'text', text: firstBytes(text) },
      { type: 'text', text: notice },
    ],
    _meta: { ...links, truncated: true },
  };
}

/** Without the character that the limit cuts. */
function firstBytes(text: string): string {
  const bytes = Buffer.from(text).subarray(0, toolResultBytesMax);
  return new TextDecoder().decode(bytes, { stream: true });
}
