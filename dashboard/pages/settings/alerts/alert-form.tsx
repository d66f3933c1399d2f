import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Alert, AlertInput } from '../../../../src/client/index.ts';
import { NumberField } from '../../../components/fields/number-field.tsx';
import { fieldError } from '../../../components/states/form-error.tsx';
import { alerts } from '../../../data/workspace/alerts.ts';
import { budgets } from '../../../data/workspace/budgets.ts';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { alertEventTypes } from '../endpoints/event-groups.ts';
import { formatValue, fromTyped, metricTexts, toTyped } from './alert-metrics.ts';
import { AlertPreview } from './alert-preview.tsx';
import { Recipients } from './recipients.tsx';

/** Creates or changes an alert, with a preview of past days. */
export function AlertForm({ alert }: { readonly alert: Alert | null }) {
  return (
    <FormDialog
      title={alert ? 'Edit alert' : 'Add alert'}
      width="medium"
      submit={alert ? 'Save' : 'Add alert'}
      action={alert ? alerts.update(alert.alertId) : alerts.create()}
      start={alert ? settingsOf(alert) : newAlert}
      input={(settings) => ({ ...settings, name: settings.name || defaultName(settings) })}
      fields={({ values, change, error }) => {
        const { metric } = values;
        const isOfBudget = metric === 'budgetUsed';
        const countsCalls = metric !== 'quotaUsed' && !isOfBudget;
        const threshold = (field: 'threshold' | 'clearThreshold', label: string) => (
          <NumberField
            key={field}
            label={`${label} (${metricTexts[metric].unit})`}
            decimals={6}
            value={toTyped(metric, values[field])}
            error={fieldError(error, field)}
            onChange={(typed) => change({ [field]: fromTyped(metric, typed ?? 0) })}
          />
        );
        return [
          { name: 'name', label: 'Name', placeholder: defaultName(values), maxLength: 200 },
          { name: 'metric', label: 'Metric', options: metrics, also: consequencesOf },
          [
            threshold('threshold', 'Fires above'),
            threshold('clearThreshold', 'Clears at or below'),
          ],
          isOfBudget && <BudgetField key="budget" chosen={values.budgetId} onChange={change} />,
          !metricTexts[metric].isCurrent && [
            {
              ...{ name: 'windowMinutes', label: 'Window (minutes)', as: 'number', empty: 1 },
              ...{ min: 1, max: 1_440 },
            },
            { name: 'minCount', label: 'Least calls', as: 'number', empty: 0 },
            { name: 'noData', label: 'With fewer calls', options: noDataChoices },
          ],
          countsCalls && {
            name: 'agentIds',
            label: 'Agents',
            as: 'agents',
            description: 'Leave empty for all agents',
          },
          countsCalls && {
            ...{ name: 'tag', label: 'Tag', description: 'Only calls with this tag' },
            ...{ maxLength: 64, empty: null },
          },
          <Recipients key="recipients" of="alerts" eventTypes={alertEventTypes} />,
          !isOfBudget && <AlertPreview key="preview" settings={values} />,
        ];
      }}
    />
  );
}

type Settings = Required<AlertInput>;

const newAlert: Settings = {
  ...{ name: '', metric: 'failureRate', agentIds: null, tag: null, budgetId: null },
  ...{ threshold: 0.1, clearThreshold: 0.05, windowMinutes: 15, minCount: 20, noData: 'keep' },
};

function settingsOf(alert: Alert): Settings {
  const { name, metric, agentIds, tag, threshold, clearThreshold } = alert;
  const { budgetId = null, windowMinutes, minCount, noData } = alert;
  return {
    ...{ name, metric, agentIds, tag, budgetId, threshold, clearThreshold },
    ...{ windowMinutes, minCount, noData },
  };
}

function BudgetField(props: {
  readonly chosen: string | null;
  readonly onChange: (some: Partial<Settings>) => void;
}) {
  const all = useQuery(budgets.list()).data ?? [];
  return (
    <NativeSelect
      label="Budget"
      required
      withAsterisk={false}
      data={[
        { value: '', label: '' },
        ...all.map(({ budgetId, name }) => ({ value: budgetId, label: name })),
      ]}
      value={props.chosen ?? ''}
      onChange={({ currentTarget }) => props.onChange({ budgetId: currentTarget.value || null })}
    />
  );
}

const metrics = Object.entries(metricTexts).map(([value, { label }]) => ({ value, label }));

const noDataChoices = [
  { value: 'keep', label: 'Keep the state' },
  { value: 'zero', label: 'Count as zero' },
  { value: 'fire', label: 'Fire' },
];

/** Sensible thresholds of each metric, because units differ. The quota is that of the workspace. */
const starts: Readonly<Record<AlertInput['metric'], readonly [number, number]>> = {
  ...{ failureRate: [0.1, 0.05], count: [1_000, 800], p50: [5_000, 4_000], p95: [20_000, 15_000] },
  ...{ costUSD: [10, 8], costUnknown: [0, 0], quotaUsed: [0.8, 0.8], queueAge: [60, 10] },
  budgetUsed: [0.8, 0.8],
};

function consequencesOf(metric: AlertInput['metric']): Partial<Settings> {
  const [threshold, clearThreshold] = starts[metric];
  const isOfCalls = metric !== 'quotaUsed' && metric !== 'budgetUsed';
  const scope = isOfCalls ? {} : { agentIds: null, tag: null };
  const budget = metric === 'budgetUsed' ? {} : { budgetId: null };
  const minCount = ['failureRate', 'p50', 'p95'].includes(metric) ? 20 : 0;
  return { threshold, clearThreshold, minCount, ...scope, ...budget };
}

const defaultName = ({ metric, threshold }: AlertInput) =>
  `${metricTexts[metric].label} above ${formatValue(metric, threshold)}`;
