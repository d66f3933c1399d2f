import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { fromDateInput, toDateInput } from '../../data/text/day-range.ts';
import { errorCodes } from './error-remedies.ts';
import { KeyField, VersionField } from './filter-fields.tsx';
import { type HistorySearch, readSearch } from './search.ts';

/** The less common filters, applied together to avoid one search per field. */
export function MoreFilters(props: {
  readonly search: HistorySearch;
  readonly agentId: string | undefined;
  readonly onApply: (change: Partial<HistorySearch>) => void;
}) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(() =>
    toTextValues(props.search),
  );
  const [variable, setVariable] = useState({ name: '', value: '' });
  const field = (name: string) => ({
    value: typed[name] ?? '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
  });
  const { startDate: from = '', endDate: until = '' } = props.search;
  const startDate = fromDateInput(typed.startDate ?? '', 'start', from);
  const endDate = fromDateInput(typed.endDate ?? '', 'end', until);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const added = variable.name === '' ? {} : { [`variables.${variable.name}`]: variable.value };
    if (startDate === null || endDate === null) return;
    const days = { startDate, endDate };
    const read = readSearch({ ...typed, ...days, ...added });
    // Emptied fields remove their filter.
    const emptied = Object.fromEntries(fields.map((name) => [name, undefined]));
    props.onApply({ ...emptied, ...read });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group grow gap="xs">
          <TextInput
            type="date"
            label="From"
            error={dateError(startDate)}
            {...field('startDate')}
          />
          <TextInput type="date" label="Until" error={dateError(endDate)} {...field('endDate')} />
        </Group>
        <VersionField agentId={props.agentId} {...field('promptVersionId')} />
        <TextInput label="Model" placeholder="openai/gpt-5.5" {...field('model')} />
        <KeyField {...field('apiKeyId')} />
        <NativeSelect
          label="Error code"
          data={[{ value: '', label: 'Any' }, ...errorCodes]}
          {...field('errorCode')}
        />
        <Group grow gap="xs">
          <TextInput
            label="Min latency (ms)"
            inputMode="numeric"
            pattern="\d*"
            {...field('latencyMsMin')}
          />
          <TextInput
            label="Max latency (ms)"
            inputMode="numeric"
            pattern="\d*"
            {...field('latencyMsMax')}
          />
        </Group>
        <Group grow gap="xs">
          <TextInput
            label="Min cost ($)"
            inputMode="decimal"
            pattern={money}
            {...field('costUSDMin')}
          />
          <TextInput
            label="Max cost ($)"
            inputMode="decimal"
            pattern={money}
            {...field('costUSDMax')}
          />
        </Group>
        <Group grow gap="xs">
          <TextInput
            label="Variable name"
            placeholder="customer"
            value={variable.name}
            onChange={({ currentTarget }) =>
              setVariable({ ...variable, name: currentTarget.value })
            }
          />
          <TextInput
            label="Variable value"
            placeholder="acme"
            value={variable.value}
            onChange={({ currentTarget }) =>
              setVariable({ ...variable, value: currentTarget.value })
            }
          />
        </Group>
        <Button type="submit">Apply</Button>
      </Stack>
    </form>
  );
}

const money = '\\d{1,9}(\\.\\d{1,10})?';

const fields = [
  'startDate',
  'endDate',
  'promptVersionId',
  'model',
  'apiKeyId',
  'errorCode',
  'latencyMsMin',
  'latencyMsMax',
  'costUSDMin',
  'costUSDMax',
] as const;

function toTextValues(search: HistorySearch): Record<string, string> {
  const texts = Object.fromEntries(fields.map((name) => [name, String(search[name] ?? '')]));
  const { startDate = '', endDate = '' } = texts;
  return { ...texts, startDate: toDateInput(startDate), endDate: toDateInput(endDate) };
}

const dateError = (time: string | null) => time === null && 'Invalid date.';
