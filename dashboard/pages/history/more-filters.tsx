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
  const [variable, setVariable] = useState(nothing);
  const [metadata, setMetadata] = useState(nothing);
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
    const added = { ...named('variables', variable), ...named('metadata', metadata) };
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
        <LabelFilters field={field} />
        <NamedFilter
          of="Metadata"
          placeholders={['plan', 'pro']}
          {...{ ...metadata, onChange: setMetadata }}
        />
        <NamedFilter
          of="Variable"
          placeholders={['customer', 'acme']}
          {...{ ...variable, onChange: setVariable }}
        />
        <Button type="submit">Apply</Button>
      </Stack>
    </form>
  );
}

type Field = (name: string) => {
  readonly value: string;
  readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void;
};

function LabelFilters({ field }: { readonly field: Field }) {
  return (
    <Group grow gap="xs">
      <TextInput label="User" {...field('user')} />
      <TextInput label="Session" {...field('session')} />
      <TextInput label="Tag" {...field('tag')} />
    </Group>
  );
}

interface NameAndValue {
  readonly name: string;
  readonly value: string;
}
const nothing: NameAndValue = { name: '', value: '' };

function named(kind: 'variables' | 'metadata', { name, value }: NameAndValue) {
  return name === '' ? {} : { [`${kind}.${name}`]: value };
}

function NamedFilter(
  props: NameAndValue & {
    readonly of: string;
    readonly placeholders: readonly [string, string];
    readonly onChange: (changed: NameAndValue) => void;
  },
) {
  const { of, name, value, placeholders, onChange } = props;
  return (
    <Group grow gap="xs">
      <TextInput
        label={`${of} name`}
        placeholder={placeholders[0]}
        value={name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value, value })}
      />
      <TextInput
        label={`${of} value`}
        placeholder={placeholders[1]}
        value={value}
        onChange={({ currentTarget }) => onChange({ name, value: currentTarget.value })}
      />
    </Group>
  );
}

const money = '\\d{1,9}(\\.\\d{1,10})?';

const fields = [
  'startDate',
  'endDate',
  'promptVersionId',
  'model',
  'apiKeyId',
  'user',
  'session',
  'tag',
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
