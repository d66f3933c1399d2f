import { Type } from 'typebox';
import { tagMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import {
  body,
  id,
  name,
  nullable,
  oneOf,
  optional,
  ownId,
  reference,
  time,
} from '../../../http/contract/shared.ts';
import {
  alertMetrics,
  alertStates,
  alertsMax,
  minCountDefault,
  noDataRules,
  windowMinutesDefault,
  windowMinutesMax,
} from '../rules/alert.ts';

const tag = 'Events';
const readable = { method: 'GET', tag, auth: 'own' } as const;
const managed = { tag, auth: 'own' } as const;

const metric = oneOf(
  alertMetrics,
  '`failureRate`: failed calls divided by succeeded and failed ones (0 to 1). `p50`, `p95`: latency in milliseconds. `quotaUsed`: used share of the plan (0 to 1). `queueAge`: seconds that the oldest waiting execution has waited. `budgetUsed`: what the fullest current window of a budget has settled, as a share of the limit (0 to 1).',
);
const bound = (description: string) =>
  Type.Number({ minimum: 0, maximum: limits.thresholdMax, description });
const threshold = bound('It fires above this value.');
const clearThreshold = bound('It clears at or below this value. Not above `threshold`.');
const windowMinutes = Type.Integer({
  minimum: 1,
  maximum: windowMinutesMax,
  description: `The whole minutes whose calls it measures. A call counts in the minute in which it was accepted, once it has ended. \`quotaUsed\`, \`queueAge\` and \`budgetUsed\` are as they are now. Default: ${windowMinutesDefault}.`,
});
const minCount = Type.Integer({
  minimum: 0,
  maximum: limits.minCountMax,
  description: `With fewer calls in the window there is no data. \`failureRate\` counts succeeded and failed ones, \`p50\` and \`p95\` started ones. Default: ${minCountDefault} for these three, else 0.`,
});
const noData = oneOf(
  noDataRules,
  'Without data: `keep` the state (`ok` becomes `no_data`), count as `zero`, or `fire`. Default: `keep`.',
);
const onlyTag = nullable(
  Type.String({ minLength: 1, maxLength: tagMax }),
  'Only calls with this tag. `null`, the default: all.',
);

/** What POST and PATCH accept. */
const settings = {
  name: name('For people.'),
  metric,
  agentIds: nullable(
    Type.Array(reference('agent'), {
      minItems: 1,
      maxItems: limits.statisticsAgentsMax,
      uniqueItems: true,
    }),
    'Only calls of these agents. `null`, the default: all agents, also future ones.',
  ),
  tag: onlyTag,
  budgetId: nullable(
    reference('budget'),
    'The budget of `budgetUsed`; `null` for any other metric.',
  ),
  ...{ threshold, clearThreshold, windowMinutes, minCount, noData },
};

/** What POST accepts. */
const created = {
  ...optional({
    ...settings,
    name: name('For people. Default: the metric and the threshold.'),
    clearThreshold: bound(
      'It clears at or below this value. Not above `threshold`, which is the default.',
    ),
  }),
  ...{ metric, threshold },
};

const value = nullable(Type.Number(), '`null` without data.');

export const Alert = Type.Object(
  {
    alertId: ownId('alert'),
    ...settings,
    agentIds: nullable(Type.Array(id('agent')), '`null`: all agents.'),
    budgetId: Type.Optional(id('budget', 'Of `budgetUsed`. Without data once it is deleted.')),
    state: oneOf(alertStates, '`no_data`: it does not fire, and there is no data yet.'),
    stateSince: time('Since when.'),
    value,
    evaluatedAt: nullable(time('The end of the last window. `null`: it will be evaluated soon.')),
    createdAt: time('Time of creation.'),
    createdBy: nullable(id('user', 'Creator. `null` if the account was deleted.')),
    updatedAt: time('Time of the last change.'),
  },
  { title: 'Alert' },
);

const AlertPreview = Type.Object(
  {
    firings: Type.Array(
      Type.Object({
        firedAt: time('When it would have fired.'),
        clearedAt: nullable(time('When it would have cleared. `null` if it would still fire.')),
      }),
      { description: 'Oldest first.' },
    ),
    values: Type.Array(Type.Object({ at: time('Start of the step.'), value }), {
      description: 'The highest value of each of at most 301 steps.',
    }),
  },
  { title: 'AlertPreview' },
);

const days = Type.Integer({
  minimum: 1,
  maximum: limits.previewDaysMax,
  description: 'The days up to now.',
});

const all = '/api/v1/alerts';
const one = '/api/v1/alerts/{alertId}';

export const createAlert = endpoint({
  ...managed,
  id: 'createAlert',
  method: 'POST',
  path: all,
  summary: 'Create an alert',
  description: `It is evaluated once a minute. When it fires and when it clears, endpoints get \`alert.fired\` and \`alert.cleared\`, once each. It belongs to the workspace, which has at most ${alertsMax}. Only \`metric\` and \`threshold\` have no default.`,
  body: body('AlertInput', created),
  responses: { 201: Alert, ...problems(404, 409) },
  responseHeaders: ['Location'],
});

export const listAlerts = endpoint({
  ...readable,
  id: 'listAlerts',
  path: all,
  summary: 'List the alerts',
  description: 'Oldest first.',
  responses: { 200: Type.Object({ alerts: Type.Array(Alert) }, { title: 'AlertList' }) },
});

export const previewNewAlert = endpoint({
  ...managed,
  id: 'previewNewAlert',
  method: 'POST',
  path: `${all}/preview`,
  summary: 'Show when a new alert would have fired',
  description: 'Creates nothing.',
  body: body('NewAlertPreview', { ...created, days }),
  responses: { 200: AlertPreview, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
});

export const getAlert = endpoint({
  ...readable,
  id: 'getAlert',
  path: one,
  summary: 'Get an alert',
  responses: { 200: Alert, ...problems(404) },
});

export const updateAlert = endpoint({
  ...managed,
  id: 'updateAlert',
  method: 'PATCH',
  path: one,
  summary: 'Change an alert',
  description: 'An omitted field does not change. The alert is evaluated again at once.',
  body: body('AlertPatch', optional(settings)),
  responses: { 200: Alert, ...problems(404) },
});

export const deleteAlert = endpoint({
  ...managed,
  id: 'deleteAlert',
  method: 'DELETE',
  path: one,
  summary: 'Delete an alert',
  description: 'Sends nothing, even if it would fire.',
  responses: { 204: null, ...problems(404) },
});

export const previewAlert = endpoint({
  ...managed,
  id: 'previewAlert',
  method: 'POST',
  path: `${one}/preview`,
  summary: 'Show when an alert would have fired',
  description:
    'With its current settings. Calls that were still running when their minute was evaluated count here. `quotaUsed` is measured by the current plan. `queueAge` is the wait for the first start, of calls that were accepted at most a day before the period. `budgetUsed` has none (400): what a budget had used is not kept.',
  body: body('AlertPreviewInput', { days }),
  responses: { 200: AlertPreview, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
});
