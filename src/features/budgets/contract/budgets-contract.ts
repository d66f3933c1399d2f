import { Type } from 'typebox';
import {
  budgetPeriods,
  budgetPers,
  sharedBucket,
  unknownPriceRules,
  windowsMax,
} from '../../../core/budget/budget.ts';
import { tagMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  body,
  creationAndChange,
  id,
  ifMatch,
  name,
  nullable,
  oneOf,
  optional,
  ownId,
  pageLimit,
  query,
  reference,
  time,
} from '../../../http/contract/shared.ts';
import {
  budgetDefaults,
  budgetsMax,
  limitUSDMax,
  matchingBudgetsMax,
  scopeMax,
} from '../rules/budget-settings.ts';

const tag = 'Budgets';
const readable = { method: 'GET', tag, auth: 'own' } as const;
const managed = { tag, auth: 'own' } as const;

const per = oneOf(
  budgetPers,
  'Who has a limit of their own. `none`: all calls share it. `agent`, `key`, `user`: each agent, API key or `user` of a call; calls without one share the bucket `""`. Cannot be changed.',
);
const period = oneOf(
  budgetPeriods,
  'The calendar window (UTC) after which it begins again; weeks begin on Monday. `total`: never. Cannot be changed.',
);
const limitUSD = Type.Number({
  exclusiveMinimum: 0,
  maximum: limitUSDMax,
  description:
    'US dollars that the calls of a window may cost, with at most ten decimal places. Holds from the next call on.',
  examples: [20],
});
const maxTokens = Type.Integer({
  minimum: 1,
  maximum: limits.maxTokensMax,
  description: `\`maxTokens\` of calls whose agent has none, because a call without one has no bound. Default: ${budgetDefaults.maxTokens}.`,
});
const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: 100,
  uniqueItems: true,
  description:
    'Percent of the limit at which `budget.threshold` is sent, once each in a window. Shown in ascending order. Default: 50, 80 and 100.',
});
const onUnknown = oneOf(
  unknownPriceRules,
  'Calls of models without a known price: `refuse` them (`PRICE_UNKNOWN`), or let them go out and `count_zero`. Default: `refuse`.',
);
const enabled = Type.Boolean({
  description: 'A disabled budget refuses nothing and counts nothing. Default: `true`.',
});
const bounds = { minItems: 1, maxItems: scopeMax, uniqueItems: true };
const tags = Type.Array(Type.String({ minLength: 1, maxLength: tagMax }), {
  ...bounds,
  description: 'Only calls with one of these tags.',
});

const scope = Type.Object(
  optional({
    agentIds: Type.Array(reference('agent'), {
      ...bounds,
      description: 'Only calls of these agents.',
    }),
    apiKeyIds: Type.Array(reference('key'), {
      ...bounds,
      description:
        'Only calls with these API keys, those that they issued, and those that share their limits by rotation.',
    }),
    tags,
  }),
  {
    additionalProperties: false,
    description:
      'The calls that it counts: those that each of the lists contains. Default: all calls.',
  },
);

const settings = { name: name('For people.'), scope, limitUSD, maxTokens, thresholds };
const switches = { onUnknown, enabled };

const fields = {
  budgetId: ownId('budget'),
  ...settings,
  scope: Type.Object(
    optional({
      agentIds: Type.Array(id('agent')),
      apiKeyIds: Type.Array(id('key')),
      tags: Type.Array(Type.String()),
    }),
    { description: 'Empty: all calls.' },
  ),
  ...{ per, period },
  ...switches,
  ...creationAndChange,
};

export const Budget = Type.Object(fields, { title: 'Budget' });

const NewBudget = Type.Object(
  {
    ...fields,
    warnings: Type.Array(
      Type.Object({
        agentId: id('agent', 'An agent whose calls it counts.'),
        agentName: Type.String({ description: 'Its name.' }),
        message: Type.String({ description: 'What changes for its calls.' }),
      }),
      {
        description: `The first ${limits.pageMax} agents, by name, that have no \`maxTokens\`.`,
      },
    ),
  },
  { title: 'NewBudget' },
);

const amount = (description: string) => Type.Number({ minimum: 0, description });

export const BudgetWindow = Type.Object(
  {
    bucket: Type.String({
      description: `The agent or key by its identifier, or the \`user\`. \`""\` without one; \`${sharedBucket}\` for those above ${windowsMax.toLocaleString('en')}. A key that was rotated has the bucket of the first one.`,
    }),
    windowStart: time('Start of the window.'),
    resetAt: nullable(time('Its end. `null` for `total`.')),
    limitUSD: amount('The limit of the budget now.'),
    settledUSD: amount('What calls have cost, and the bound of those whose cost is not known.'),
    reservedUSD: amount('The bounds of calls that are queued or running.'),
    leftUSD: amount('What is left for others: never below 0.'),
    calls: Type.Integer({ minimum: 0, description: 'Model calls.' }),
    unknownCalls: Type.Integer({
      minimum: 0,
      description: 'Those that were sent and whose cost is not known: the bound is kept as spent.',
    }),
  },
  { title: 'BudgetWindow' },
);

export const BudgetInput = body('BudgetInput', {
  ...settings,
  ...{ per, period },
  ...optional({ scope, maxTokens, thresholds, ...switches }),
});

const all = '/api/v1/budgets';
const one = '/api/v1/budgets/{budgetId}';

export const createBudget = endpoint({
  ...managed,
  id: 'createBudget',
  method: 'POST',
  path: all,
  summary: 'Create a budget',
  description: `No call goes out that could bring a window above its limit: 429 \`BUDGET_EXCEEDED\`, or 403 for \`total\`. Calls that are accepted after its creation count. A workspace has at most ${budgetsMax}, and at most ${matchingBudgetsMax} enabled ones that one call can match (409).`,
  body: BudgetInput,
  responses: { 201: NewBudget, ...problems(404, 409) },
  responseHeaders: ['ETag', 'Location'],
});

export const listBudgets = endpoint({
  ...readable,
  id: 'listBudgets',
  path: all,
  summary: 'List the budgets',
  description: 'Oldest first.',
  responses: { 200: Type.Object({ budgets: Type.Array(Budget) }, { title: 'BudgetList' }) },
});

export const getBudget = endpoint({
  ...readable,
  id: 'getBudget',
  path: one,
  summary: 'Get a budget',
  responses: { 200: Budget, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updateBudget = endpoint({
  ...managed,
  id: 'updateBudget',
  method: 'PATCH',
  path: one,
  summary: 'Change a budget',
  description:
    'An omitted field does not change. Holds from the next call on: a limit below what is settled refuses all, a higher one admits again. Returns 409 for another `per` or `period`.',
  headers: ifMatch,
  body: body('BudgetPatch', optional({ ...settings, ...{ per, period }, ...switches })),
  responses: { 200: Budget, ...problems(404, 409) },
  responseHeaders: ['ETag'],
});

export const deleteBudget = endpoint({
  ...managed,
  id: 'deleteBudget',
  method: 'DELETE',
  path: one,
  summary: 'Delete a budget',
  description: 'Also deletes what its windows counted.',
  headers: ifMatch,
  responses: { 204: null, ...problems(404) },
});

export const listBudgetWindows = endpoint({
  ...readable,
  id: 'listBudgetWindows',
  path: `${one}/windows`,
  summary: 'List what the windows of a budget have spent',
  description:
    'The latest windows first, and of these the fullest first. Includes what calls have settled up to now. A window that fills meanwhile may be listed twice, and is never left out of a list that starts from its first page. A window ends with the second one after it.',
  query: query({
    bucket: Type.Optional(
      Type.String({
        maxLength: limits.nameMax,
        description: 'Only this bucket. Lists its current window even if it is empty.',
      }),
    ),
    limit: pageLimit('Windows at most.'),
    cursor: Type.Optional(
      Type.String({
        maxLength: limits.budgetCursorMax,
        description: '`nextCursor` of the previous page.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        windows: Type.Array(BudgetWindow),
        nextCursor: Type.Optional(
          Type.String({ description: 'For the next page. Absent on the last one.' }),
        ),
      },
      { title: 'BudgetWindowList' },
    ),
    ...problems(404),
  },
});
