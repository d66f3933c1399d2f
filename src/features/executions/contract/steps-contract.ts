import { Type } from 'typebox';
import { executionErrorCodes } from '../../../core/failure.ts';
import { id, oneOf, time } from '../../../core/field-types.ts';
import { callStates } from '../../../core/tools/call-state.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems } from '../../../http/contract/problem.ts';

const { Optional } = Type;
const count = (description: string) => Optional(Type.Integer({ minimum: 0, description }));
const anyText = (description: string) => Optional(Type.String({ description }));
const object = (description: string) =>
  Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      ...{ type: 'object', additionalProperties: true, description },
    }),
  );

const ExecutionStep = Type.Object(
  {
    turn: Type.Integer({ minimum: 1, description: 'The turn of the model, from 1.' }),
    kind: oneOf(['model', 'tool'], 'A turn of the model, or a call of a tool in it.'),
    state: oneOf(
      callStates,
      '`ready`: not sent yet. `dispatched`: sent, without an outcome. `done`: it has a result. `unknown`: nobody knows whether it took effect. `canceled`: not sent, or, if it is safe, not sent again. A turn of the model is `done`.',
    ),
    startedAt: Optional(time('When the model or the server of the tool was called last.')),
    endedAt: Optional(time('Absent while it is open.')),
    modelUsed: anyText('Of a turn of the model.'),
    inputTokens: count('Of a turn of the model.'),
    outputTokens: count('Of a turn of the model.'),
    costUSD: Optional(Type.Number({ minimum: 0, description: 'Of a turn of the model.' })),
    costKnown: Optional(Type.Boolean({ description: 'Of a turn of the model.' })),
    text: anyText(
      'What the model wrote beside its calls. The text of the last turn is `outputText`.',
    ),
    toolCallId: Optional(
      id('toolCall', 'Of a call. Its server gets it as `webhook-id` and `Idempotency-Key`.'),
    ),
    name: anyText('The tool as the model calls it.'),
    toolServerId: Optional(id('toolServer', 'The server of the tool. It may have been deleted.')),
    safe: Optional(Type.Boolean({ description: 'Whether the call may be repeated.' })),
    sent: count('Requests of the call that may have left.'),
    arguments: Optional(Type.Unknown({ description: 'As the model wrote them.' })),
    usedArguments: object('As they were sent, with the values that the call supplies.'),
    result: anyText('As the model read it.'),
    isError: Optional(Type.Boolean({ description: '`true`: the result says what went wrong.' })),
    errorCode: Optional(oneOf(executionErrorCodes, 'Present if the call went wrong.')),
  },
  { title: 'ExecutionStep' },
);

export const listExecutionSteps = endpoint({
  id: 'listExecutionSteps',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/executions/{executionId}/steps',
  summary: 'List the steps of an execution',
  description:
    'The turns of the model and the calls of tools in their order, also while the execution runs. Empty unless its version executes tools and the model has called one. Texts, arguments and results are removed with the bodies of the record. The response has at most 8 MiB of them; later steps are then without. A key with `execute` but not `read` can access those of executions it started, without tools, texts, arguments and results, and without cost if the key has `allowedOrigins`.',
  tag: 'Executions',
  auth: 'read',
  ownPermission: 'execute',
  responses: {
    200: Type.Object({ steps: Type.Array(ExecutionStep) }, { title: 'ExecutionStepList' }),
    ...problems(404),
  },
});
