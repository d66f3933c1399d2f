import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyFault, type Fault } from '../../proof/fault.ts';

/** A deliberate fault in ordinary code, and the test files that must find it. */
export interface TestedFault extends Pick<Fault, 'name' | 'description' | 'find' | 'replace'> {
  /** Below `src`, or `../dashboard/…`. Without JSX. */
  readonly file: string;
  /** Only their own process has the fault, not those that they start. */
  readonly tests: readonly string[];
}

/** The source with the fault. Throws unless its text occurs exactly once. */
export function faultySource(fault: TestedFault): string {
  const path = join(import.meta.dirname, '../../src', fault.file);
  return applyFault(fault, readFileSync(path, 'utf8'));
}

export const faults: readonly TestedFault[] = [
  {
    name: 'limit-off-by-one',
    description: 'a window admits one call more than its limit',
    file: 'core/agent/limits.ts',
    find: 'counts[usedField[limit.window]] < limit.limit',
    replace: 'counts[usedField[limit.window]] <= limit.limit',
    tests: ['test/core/execution/limits.test.ts'],
  },
  {
    name: 'archive-while-deployed',
    description: 'a deployed agent can be archived',
    file: 'core/agent/agent.ts',
    find: "return at.stage === 'Deployed' ? null : { ...at, archived: true };",
    replace: 'return { ...at, archived: true };',
    tests: ['test/core/agent/agent.test.ts'],
  },
  {
    name: 'defaults-win',
    description: 'default values of variables replace the supplied ones',
    file: 'core/execution/render-prompt.ts',
    find: `...defaultTexts(defaults),
    ...suppliedTexts(inputVariables, variableValues, namesIn(template)),`,
    replace: `...suppliedTexts(inputVariables, variableValues, namesIn(template)),
    ...defaultTexts(defaults),`,
    tests: ['test/core/agent/render-prompt.test.ts'],
  },
  {
    name: 'permission-left-out',
    description: 'a key without the permission to execute may execute',
    file: 'core/execution/check-call.ts',
    find: "if (!caller.rights.includes('execute')) {",
    replace: 'if (false) {',
    tests: ['test/core/execution/decide.test.ts'],
  },
  {
    name: 'event-time-unsigned',
    description: 'the time of an event is not signed, so it can be replayed',
    file: 'core/event/sign.ts',
    find: 'webhookHmac(secret, id, timestamp)',
    replace: "webhookHmac(secret, id, '0')",
    tests: ['test/core/event/event.test.ts'],
  },
  {
    name: 'event-retry-early',
    description:
      'the second attempt of a delivery takes place at once, each later one a step early',
    file: 'core/event/retry.ts',
    find: 'delaySeconds[attempts]',
    replace: 'delaySeconds[attempts - 1]',
    tests: ['test/core/event/retry.test.ts'],
  },
  {
    name: 'condition-ignored',
    description: 'a workflow step runs although its condition is false',
    file: 'core/workflow/advance.ts',
    find: "if (!result.value) return this.#put({ ...row, status: 'skipped' });",
    replace: '',
    tests: ['test/workflow/steps.test.ts'],
  },
  {
    name: 'views-of-others',
    description: 'a member sees the saved views of others',
    file: 'features/people/statements/views.ts',
    find: ` and user_id = \${userId}
    order by`,
    replace: ' order by',
    tests: ['test/api/put-views/200-412.test.ts'],
  },
  {
    name: 'claim-order',
    description: 'executions are claimed by age, not by the fair order of their tags',
    file: 'engine/run/queue.ts',
    find: 'order by tag, id limit',
    replace: 'order by id limit',
    tests: ['test/worker/queue.test.ts'],
  },
  {
    name: 'release-without-fence',
    description: 'a worker releases an execution that another attempt has claimed',
    file: 'engine/run/queue.ts',
    find: 'on q.id = r.id and q.worker = r.worker and q.attempt = r.attempt',
    replace: 'on q.id = r.id and q.worker = r.worker',
    tests: ['test/worker/queue.test.ts'],
  },
  {
    name: 'prompt-not-locked',
    description: 'an agent can be created while its prompt is being archived',
    file: 'features/prompts/statements/prompts.ts',
    find: 'for share of p`',
    replace: '`',
    tests: ['test/flow/agent/change-agent.test.ts'],
  },
  {
    name: 'long-days',
    description: 'records and bodies are kept 25 hours for each day of their retention',
    file: 'features/history/statements/retention-statements.ts',
    find: "* interval '24 hours'",
    replace: "* interval '25 hours'",
    tests: ['test/flow/history/retention-round.test.ts'],
  },
  {
    name: 'key-forgotten',
    description: 'an Idempotency-Key is forgotten after a day although its execution has not ended',
    file: 'engine/admit/idempotency.ts',
    find: "interval '24 hours' or",
    replace: "interval '24 hours' or false and",
    tests: ['test/api/execute-agent/202.test.ts'],
  },
  {
    name: 'lock-left-out',
    description: 'a change of an agent does not wait for calls in admission',
    file: 'features/agents/verbs/locked-agent.ts',
    find: 'await lockLimits(trx, [agentId]);',
    replace: '',
    tests: ['test/flow/agent/change-agent.test.ts'],
  },
  {
    name: 'rollback-not-retried',
    description: 'a transaction is not retried after a deadlock',
    file: 'engine/transaction/retry-transaction.ts',
    find: 'if (!isTransactionRollback(error) || attempt === attemptsMax) throw error;',
    replace: 'throw error;',
    tests: ['test/flow/transaction/retry-transaction.test.ts'],
  },
  {
    name: 'failures-swallowed',
    description: 'a maintenance round hides the failures of its tasks',
    file: 'engine/transaction/paced-transactions.ts',
    find: 'if (failures.length > 0) throw failures[0];',
    replace: '',
    tests: ['test/flow/transaction/paced-transactions.test.ts'],
  },
  {
    name: 'no-audit',
    description: 'the revocation of a key leaves no line in the audit log',
    file: 'features/people/verbs/issue-key.ts',
    find: "await auditChange(trx, caller, 'key.revoke', keyId);",
    replace: '',
    tests: ['test/api/list-audit/200.test.ts'],
  },
  {
    name: 'waiting-line-counts',
    description: 'a line of a batch that keeps waiting counts for the limits each time',
    file: 'core/execution/decide.ts',
    find: 'for (const [at, counts] of counted.entries()) Object.assign(counts, before[at]);',
    replace: '',
    tests: ['test/flow/batch/admit-lines.test.ts'],
  },
  {
    name: 'redirect-delivers',
    description: 'a redirect counts as the delivery of an event',
    file: 'features/events/verbs/attempt-delivery.ts',
    find: 'status < 300',
    replace: 'status < 400',
    tests: ['test/flow/event/attempt-delivery.test.ts'],
  },
  {
    name: 'slots-not-counted',
    description: 'what requests hold does not count towards the share of their workspace',
    file: 'core/shares.ts',
    find: 'this.#usedBy(workspaceId) + 1',
    replace: 'this.#usedBy(workspaceId)',
    tests: ['test/core/shares.test.ts'],
  },
  {
    name: 'vary-missing',
    description: 'a response that depends on the origin is cached for other origins',
    file: 'http/cors.ts',
    find: "reply.header('vary', 'Origin');",
    replace: '',
    tests: ['test/api/execute-workflow/cors.test.ts'],
  },
  {
    name: 'smaller-count',
    description: 'of two counts of output tokens the smaller one is used',
    file: 'models/response/usage.ts',
    find: 'Math.max(a, b)',
    replace: 'Math.min(a, b)',
    tests: ['test/provider/response/usage.test.ts'],
  },
  {
    name: 'no-credit-is-a-limit',
    description: 'an account without credit counts as a rate limit, and is retried',
    file: 'models/failure/classify-error.ts',
    find: 'status === 402 || (refused && isOutOfCredit(given, text))',
    replace: 'status === 402',
    tests: ['test/provider/failure/failure.test.ts'],
  },
  {
    name: 'encoded-secret-kept',
    description: 'a percent-encoded secret is not removed from error messages',
    file: 'models/failure/redact.ts',
    find: 'encodeURIComponent(part),',
    replace: '',
    tests: ['test/provider/failure/redact.test.ts'],
  },
  {
    name: 'metadata-reachable',
    description: 'the metadata service of most clouds counts as a public address',
    file: 'net/address.ts',
    find: "'169.254.0.0/16',",
    replace: '',
    tests: ['test/net/address.test.ts'],
  },
  {
    name: 'unsafe-retry',
    description: 'the client repeats a call that may have been accepted',
    file: 'client/client-retry.ts',
    find: 'return repeatable && (',
    replace: 'return (',
    tests: ['test/client/retry.test.ts'],
  },
  {
    name: 'key-not-sent',
    description: 'the client does not send the Idempotency-Key',
    file: 'client/request.ts',
    find: "...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),",
    replace: '',
    tests: ['test/client/retry.test.ts'],
  },
  {
    name: 'control-characters',
    description: 'the command line prints control characters of model output',
    file: 'cli/client/print.ts',
    find: '[^\\P{Cc}\\n\\t]',
    replace: '[^\\P{Cc}\\n\\t\\x1b]',
    tests: ['test/cli/client/print.test.ts'],
  },
  {
    name: 'notes-dropped',
    description: 'saving a version drops its notes',
    file: '../dashboard/pages/prompt/draft.ts',
    find: "notes: notes === '' ? null : notes,",
    replace: 'notes: null,',
    tests: ['test/dashboard/draft.test.ts'],
  },
  {
    name: 'day-cut-short',
    description: 'a range of days ends where its last day begins',
    file: '../dashboard/data/text/day-range.ts',
    find: "'23:59:59.999'",
    replace: "'00:00:00'",
    tests: ['test/dashboard/day-range.test.ts'],
  },
];
