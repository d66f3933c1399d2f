import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import { oneOf, reference } from '../../../http/contract/shared.ts';
import { agentFilter, historyQuery } from '../../executions/contract/executions-contract.ts';

const exportParameters = {
  format: Type.Optional(
    oneOf(
      ['jsonl', 'csv'],
      'One JSON object per line, unless `csv` is requested. CSV follows RFC 4180: a column per field except `output`, empty if absent; `inputVariables` as JSON; every text quoted. An apostrophe precedes a cell that a spreadsheet would read as a formula: one that starts with `=`, `+`, `-`, `@` (also in full width), tab, CR or LF. New columns come last.',
    ),
  ),
  bom: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'For spreadsheets, with `format=csv`: starts with a byte order mark, without which they garble other letters than ASCII, and adds an apostrophe even before formula signs after `;`, tab or newline inside a cell, where some locales split cells.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.cursorMax,
      description:
        '`executionId` of the last record received. The export continues after it, without a CSV header.',
    }),
  ),
  workspace: Type.Optional(
    reference(
      'workspace',
      'Same as the header `Cueline-Workspace`, for links, which cannot send headers. Selects the workspace if the user belongs to several.',
    ),
  ),
};

const shared = {
  method: 'GET',
  tag: 'Executions',
  auth: 'read',
  query: historyQuery(exportParameters),
  produces: ['application/jsonl', 'text/csv'],
  responseHeaders: ['RateLimit', 'Content-Disposition', 'Cueline-Data-As-Of'],
} as const;

const description = `Streams every matching record, newest first, as of the start of the export, at the speed of the reader. Records are complete, including prompts. The caller is authorized again before each chunk; a revoked key, a changed role, an agent that is no longer visible, or an erasure cuts the connection. An interrupted response ends without its last chunk; continue with \`cursor\`. At most ${limits.exportsMax} exports per process run at once, shared between workspaces (503 beyond), each for at most ${limits.streamMsMax / 60_000} minutes. Accepts the filters of the list. The file is named after them and the day.`;

export const exportExecutions = endpoint({
  ...shared,
  id: 'exportExecutions',
  path: '/api/v1/agents/{agentId}/executions/export',
  summary: "Export an agent's executions",
  description,
  responses: { 200: Type.String(), ...problems(400, 404), 429: ListLimitProblem, ...problems(503) },
});

export const exportAllExecutions = endpoint({
  ...shared,
  id: 'exportAllExecutions',
  path: '/api/v1/executions/export',
  summary: 'Export the executions of all agents',
  description: `Exports the executions of all agents that the caller can see. ${description}`,
  query: historyQuery({ agentId: agentFilter, ...exportParameters }),
  responses: { 200: Type.String(), ...problems(400), 429: ListLimitProblem, ...problems(503) },
});
