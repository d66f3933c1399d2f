import { MultiSelect } from '@mantine/core';
import type { Budget, BudgetInput, BudgetPatch, NewBudget } from '../../../../src/client/index.ts';
import {
  budgets,
  describeBudget,
  perChoices,
  periodChoices,
} from '../../../data/workspace/budgets.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import { Dialog, openDialog } from '../../../kit/dialog.tsx';
import type { Field } from '../../../kit/fields.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { Recipients } from '../alerts/recipients.tsx';
import { budgetEventTypes } from '../endpoints/event-groups.ts';

/** Creates or changes a budget. */
export function BudgetForm({ budget }: { readonly budget: Budget | null }) {
  const form = { width: 'medium', start: budget ? valuesOf(budget) : newBudget } as const;
  if (budget) {
    return (
      <FormDialog
        {...form}
        title="Edit budget"
        submit="Save"
        action={budgets.update(budget.budgetId)}
        input={(values) => changeOf(budget, inputOf(values))}
        fields={(state) => fieldsOf(state, true)}
      />
    );
  }
  return (
    <FormDialog
      {...form}
      title="Add budget"
      submit="Add budget"
      action={budgets.create()}
      onDone={(created) => {
        if (created.warnings.length > 0) openDialog(<Unbounded budget={created} />);
      }}
      input={inputOf}
      fields={(state) => fieldsOf(state, false)}
    />
  );
}

interface Values extends Omit<Required<BudgetInput>, 'scope' | 'thresholds'> {
  readonly agentIds: readonly string[] | null;
  readonly apiKeyIds: readonly string[];
  readonly tags: readonly string[];
  /** As typed: `50, 80, 100`. */
  readonly thresholds: string;
}

const newBudget: Values = {
  ...{ name: '', limitUSD: 20, period: 'month', per: 'user' },
  ...{ agentIds: null, apiKeyIds: [], tags: [], thresholds: '50, 80, 100' },
  ...{ maxTokens: 4_096, onUnknown: 'refuse', enabled: true },
};

function valuesOf(budget: Budget): Values {
  const { name, limitUSD, period, per, scope, thresholds } = budget;
  const { agentIds = null, apiKeyIds = [], tags = [] } = scope;
  return {
    ...{ name, limitUSD, period, per, agentIds, apiKeyIds, tags },
    ...{ maxTokens: budget.maxTokens, onUnknown: budget.onUnknown, enabled: budget.enabled },
    thresholds: thresholds.join(', '),
  };
}

function inputOf({ agentIds, apiKeyIds, tags, thresholds, ...others }: Values): BudgetInput {
  return {
    ...others,
    name: others.name || describeBudget(others),
    scope: {
      ...(agentIds && { agentIds: [...agentIds] }),
      ...(apiKeyIds.length > 0 && { apiKeyIds: [...apiKeyIds] }),
      ...(tags.length > 0 && { tags: [...tags] }),
    },
    thresholds: thresholds
      .split(/[\s,;%]+/)
      .filter(Boolean)
      .map(percent),
  };
}

function percent(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 100) return value;
  throw new Error(`“${text}” is no whole number from 1 to 100.`);
}

/** The edited fields: another owner may have changed others meanwhile. */
function changeOf(budget: Budget, input: BudgetInput): BudgetPatch {
  const edited = Object.entries(input).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(budget[field as keyof Budget]),
  );
  return Object.fromEntries(edited);
}

function fieldsOf(
  {
    values,
    change,
  }: Parameters<Parameters<typeof FormDialog<Values, BudgetInput, NewBudget>>[0]['fields']>[0],
  exists: boolean,
): readonly Field<Values>[] {
  return [
    [
      {
        ...{ name: 'limitUSD', label: 'Limit (US dollars)' },
        ...{ as: 'number', decimals: 10, empty: 0 },
      },
      { name: 'period', label: 'Period', options: periodChoices, disabled: exists },
      { name: 'per', label: 'Per', options: perChoices, disabled: exists },
    ],
    values.per === 'user' && (
      <p key="user" className="small-note">
        Binds where your program sends <code>user</code>. Calls without one share one limit.
      </p>
    ),
    {
      name: 'agentIds',
      label: 'Agents',
      as: 'agents',
      description: 'Leave empty for all agents',
    },
    [
      <KeysField
        key="apiKeyIds"
        chosen={values.apiKeyIds}
        onChange={(apiKeyIds) => change({ apiKeyIds })}
      />,
      { name: 'tags', label: 'Tags', as: 'tags', placeholder: 'All calls' },
    ],
    { name: 'name', label: 'Name', placeholder: describeBudget(values), maxLength: 200 },
    [
      { name: 'thresholds', label: 'Notify at (%)', placeholder: 'Never' },
      {
        ...{ name: 'maxTokens', label: 'maxTokens if not set' },
        ...{ as: 'number', empty: 4_096, min: 1, max: 1_000_000 },
      },
      { name: 'onUnknown', label: 'Models without a price', options: unknownChoices },
    ],
    exists && { name: 'enabled', label: 'Enabled', as: 'check' },
    <Recipients key="recipients" of="budgets" eventTypes={budgetEventTypes} />,
  ];
}

const unknownChoices = [
  { value: 'refuse', label: 'Refuse' },
  { value: 'count_zero', label: 'Count as zero' },
];

function KeysField(props: {
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
}) {
  const { chosen, onChange } = props;
  const names = useKeyNames();
  const ids = [...new Set([...chosen, ...(names?.keys() ?? [])])];
  return (
    <MultiSelect
      label="API keys"
      placeholder={chosen.length === 0 ? 'All calls' : ''}
      data={ids.map((id) => ({ value: id, label: names?.get(id) ?? id }))}
      value={[...chosen]}
      searchable
      maxDropdownHeight={220}
      nothingFoundMessage="No matches"
      onChange={onChange}
    />
  );
}

/** What the new budget changes for agents whose answers had no bound. */
function Unbounded({ budget: { maxTokens, warnings } }: { readonly budget: NewBudget }) {
  return (
    <Dialog title="Agents without maxTokens">
      <p>
        Calls of these agents are sent with {maxTokens.toLocaleString()} from now on, because an
        answer without a bound has no greatest cost. Set maxTokens of an agent to change it.
      </p>
      <ul>
        {warnings.map(({ agentId, agentName }) => (
          <li key={agentId} className="wrap" dir="auto">
            {agentName}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
