import { Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { ListLimitProblem, problems } from '../problem.ts';
import { oneOf, reference } from '../shared.ts';
import { historyQuery } from './executions.ts';

const shared = {
  method: 'GET',
  tag: 'Executions',
  auth: 'read',
  query: historyQuery({
    format: Type.Optional(
      oneOf(['jsonl', 'csv'], 'A JSON object on each line, unless `csv` is asked for.'),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description:
          'The `executionId` of the last record that came through: the export goes on after it, without the head of a CSV.',
      }),
    ),
    workspace: Type.Optional(
      reference(
        'workspace',
        'As the header `Cueline-Workspace`, for a link, which can send none: which workspace is meant, where a session belongs to several.',
      ),
    ),
  }),
  produces: ['application/jsonl', 'text/csv'],
  sends: ['RateLimit', 'Content-Disposition'],
} as const;

const description = `Streams every record that matches, newest first, as it was when the export began, no faster than it is taken. The records are whole, prompts included. An answer that is broken off ends without its last chunk; go on with \`cursor\`. At most ${limits.exportsMax} at once in a process and ${limits.exportsOfWorkspaceMax} of a workspace (503 beyond), each for at most ${limits.streamMsMax / 60_000} minutes. In CSV a cell that a spreadsheet would take for a formula is led by an apostrophe. Filters are those of the list, of any number of records.`;

export const exportExecutions = endpoint({
  ...shared,
  id: 'exportExecutions',
  path: '/api/v1/agents/{agentId}/executions/export',
  summary: "Export an agent's executions",
  description,
  answers: { 200: Type.String(), ...problems(400, 404), 429: ListLimitProblem, ...problems(503) },
});

export const exportAllExecutions = endpoint({
  ...shared,
  id: 'exportAllExecutions',
  path: '/api/v1/executions/export',
  summary: 'Export the executions of all agents',
  description: `Of all agents that the caller sees, as for one. ${description}`,
  answers: { 200: Type.String(), ...problems(400), 429: ListLimitProblem, ...problems(503) },
});
