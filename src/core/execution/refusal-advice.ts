import type { CallFailureCode } from '../failure.ts';

/** A refusal as text for a model: what was refused, what to do, and until when it is refused. */
export function refusalAdvice({ code, message, fields }: RefusedCall, nowMs: number): string {
  const retry = retryText(fields, nowMs);
  return [message, retry ?? advice(code, fields)].filter((text) => text !== null).join(' ');
}

export interface RefusedCall {
  readonly code: CallFailureCode;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function retryText(fields: RefusedCall['fields'], nowMs: number): string | null {
  const { retryAfter: seconds, limitedBy } = fields;
  if (typeof seconds !== 'number') return null;
  const { resetAt, reason } = (limitedBy ?? {}) as { resetAt?: string; reason?: string };
  // Calls that are running are in the way of this one, not the window of the budget.
  const end = reason === 'reserved' ? null : resetAt;
  const at = end ?? new Date(nowMs + seconds * 1000).toISOString();
  return `Try again at ${at}, in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}; not earlier.`;
}

function advice(code: CallFailureCode, fields: RefusedCall['fields']): string | null {
  switch (code) {
    case 'MISSING_VARIABLES': {
      const required = (fields.requiredVariables ?? fields.requiredInput ?? []) as string[];
      return `Call the tool again with all required arguments: ${required.join(', ')}.`;
    }
    case 'INVALID_VARIABLES':
    case 'INVALID_REQUEST':
      return 'Correct the arguments and call the tool again.';
    case 'AGENT_NOT_ACTIVE':
    case 'WORKFLOW_NOT_ACTIVE':
    case 'PERMISSION_DENIED':
    case 'UNAUTHORIZED':
    case 'PRICE_UNKNOWN':
    // Of a budget that never resets.
    case 'BUDGET_EXCEEDED':
      return 'Calling the tool again does not help: a person must change this first.';
    case 'OUTCOME_UNKNOWN':
      return 'The call may have been accepted. Calling the tool again may execute it twice.';
    default:
      return null;
  }
}
