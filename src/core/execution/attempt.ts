import { Type } from 'typebox';
import { type ExecutionErrorCode, executionErrorCodes } from '../failure.ts';
import { oneOf } from '../field-types.ts';
import type { Cost, Usage } from '../model/model-port.ts';

/** One attempt of an execution, as the record shows it. */
export interface Attempt {
  readonly model: string;
  /** Null if it succeeded. */
  readonly errorCode: ExecutionErrorCode | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUSD: number;
  readonly costKnown: boolean;
  /** Of the call; null if its worker was lost, or the call was aborted. */
  readonly latencyMs: number | null;
}

export function attemptOf({
  model,
  errorCode,
  usage,
  cost,
  latencyMs,
}: Pick<Attempt, 'model' | 'errorCode' | 'latencyMs'> & {
  readonly usage: Usage;
  readonly cost: Cost;
}): Attempt {
  return {
    model,
    errorCode,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    costUSD: Number(cost.usd),
    costKnown: cost.known,
    latencyMs,
  };
}

/** In the record. */
export const attemptType = Type.Object(
  {
    model: Type.String({ description: 'Format: `provider/model`.' }),
    errorCode: Type.Optional(oneOf(executionErrorCodes, 'Absent if it succeeded.')),
    inputTokens: Type.Integer({ minimum: 0 }),
    outputTokens: Type.Integer({ minimum: 0 }),
    costUSD: Type.Number({ minimum: 0 }),
    costKnown: Type.Boolean(),
    latencyMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Absent if its worker was lost, or it was aborted.',
      }),
    ),
  },
  { title: 'Attempt' },
);
