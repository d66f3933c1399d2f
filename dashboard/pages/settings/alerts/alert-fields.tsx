import { Group, NativeSelect, TextInput } from '@mantine/core';
import type { AlertInput } from '../../../../src/client/index.ts';
import { AgentsField } from '../../../components/fields/agents-field.tsx';
import { NumberField } from '../../../components/fields/number-field.tsx';
import { fieldError } from '../../../components/states/form-error.tsx';
import { fromTyped, metricTexts, toTyped } from './alert-metrics.ts';

interface FieldsProps {
  readonly settings: AlertInput;
  readonly error: unknown;
  readonly onChange: (some: Partial<AlertInput>) => void;
}

export function AlertFields(props: FieldsProps) {
  const { settings, error, onChange } = props;
  const { name, metric } = settings;
  return (
    <>
      <TextInput
        label="Name"
        required
        withAsterisk={false}
        data-autofocus
        maxLength={200}
        value={name}
        error={fieldError(error, 'name')}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <NativeSelect
        label="Metric"
        data={Object.entries(metricTexts).map(([value, { label }]) => ({ value, label }))}
        value={metric}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value as AlertInput['metric'];
          const workspace = chosen === 'quotaUsed' ? { agentIds: null, tag: null } : {};
          onChange({ metric: chosen, ...starts[chosen], ...workspace });
        }}
      />
      <Thresholds {...props} />
      {!metricTexts[metric].isCurrent && <WindowFields {...props} />}
      {metric !== 'quotaUsed' && <ScopeFields {...props} />}
    </>
  );
}

/** Sensible thresholds of each metric: units differ. */
const starts: Readonly<
  Record<AlertInput['metric'], Pick<AlertInput, 'threshold' | 'clearThreshold'>>
> = {
  failureRate: { threshold: 0.1, clearThreshold: 0.05 },
  count: { threshold: 1_000, clearThreshold: 800 },
  p50: { threshold: 5_000, clearThreshold: 4_000 },
  p95: { threshold: 20_000, clearThreshold: 15_000 },
  costUSD: { threshold: 10, clearThreshold: 8 },
  costUnknown: { threshold: 0, clearThreshold: 0 },
  quotaUsed: { threshold: 0.8, clearThreshold: 0.8 },
  queueAge: { threshold: 60, clearThreshold: 10 },
};

function Thresholds({ settings, error, onChange }: FieldsProps) {
  const { metric, threshold, clearThreshold } = settings;
  const { unit } = metricTexts[metric];
  return (
    <Group grow align="flex-start">
      {(
        [
          ['threshold', 'Fires above', threshold],
          ['clearThreshold', 'Clears at or below', clearThreshold],
        ] as const
      ).map(([field, label, value]) => (
        <NumberField
          key={field}
          label={`${label} (${unit})`}
          decimals={6}
          value={toTyped(metric, value)}
          error={fieldError(error, field)}
          onChange={(typed) => onChange({ [field]: fromTyped(metric, typed ?? 0) })}
        />
      ))}
    </Group>
  );
}

const noDataChoices = [
  { value: 'keep', label: 'Keep the state' },
  { value: 'zero', label: 'Count as zero' },
  { value: 'fire', label: 'Fire' },
];

function WindowFields({ settings, error, onChange }: FieldsProps) {
  const { windowMinutes, minCount, noData } = settings;
  return (
    <Group grow align="flex-start">
      <NumberField
        label="Window (minutes)"
        min={1}
        max={1_440}
        value={windowMinutes}
        error={fieldError(error, 'windowMinutes')}
        onChange={(minutes) => onChange({ windowMinutes: minutes ?? 1 })}
      />
      <NumberField
        label="Least calls"
        value={minCount}
        error={fieldError(error, 'minCount')}
        onChange={(calls) => onChange({ minCount: calls ?? 0 })}
      />
      <NativeSelect
        label="With fewer calls"
        data={noDataChoices}
        value={noData}
        onChange={({ currentTarget }) =>
          onChange({ noData: currentTarget.value as AlertInput['noData'] })
        }
      />
    </Group>
  );
}

function ScopeFields({ settings, error, onChange }: FieldsProps) {
  const { agentIds, tag } = settings;
  return (
    <>
      <AgentsField
        description="Leave empty for all agents"
        chosen={agentIds ?? []}
        onChange={(ids) => onChange({ agentIds: ids.length === 0 ? null : ids })}
      />
      <TextInput
        label="Tag"
        description="Only calls with this tag"
        maxLength={64}
        value={tag ?? ''}
        error={fieldError(error, 'tag')}
        onChange={({ currentTarget }) => onChange({ tag: currentTarget.value || null })}
      />
    </>
  );
}
