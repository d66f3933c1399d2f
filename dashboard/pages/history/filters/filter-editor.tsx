import { Button, Checkbox, Group, Loader, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { joinValues } from '../../../../src/client/index.ts';
import { FormError } from '../../../components/states/form-error.tsx';
import { formatCount } from '../../../data/text/format.ts';
import classes from '../history.module.css';
import { type HistorySearch, type ListName, lists, valuesOf } from '../search.ts';
import type { FilterProps } from './filter-bar.tsx';
import { type FilterName, listLabels } from './filter-names.ts';
import { useFilterOptions } from './filter-options.ts';

type EditorProps = FilterProps & { readonly onDone: () => void };

/** Edits one filter. Lists apply at once, everything that is typed with Enter or Apply. */
export function FilterEditor({ name, ...props }: EditorProps & { readonly name: FilterName }) {
  switch (name) {
    case 'latency':
      return (
        <RangeEditor of="Latency" unit="ms" names={['latencyMsMin', 'latencyMsMax']} {...props} />
      );
    case 'cost':
      return <RangeEditor of="Cost" unit="$" names={['costUSDMin', 'costUSDMax']} {...props} />;
    case 'variables':
      return (
        <NamedEditor of="Variable" prefix="variables" example={['customer', 'acme']} {...props} />
      );
    case 'metadata':
      return <NamedEditor of="Metadata" prefix="metadata" example={['plan', 'pro']} {...props} />;
    case 'session':
    case 'tag':
      return <TextEditor name={name} {...props} />;
    default:
      return lists.includes(name as ListName) ? (
        <ListEditor name={name as ListName} {...props} />
      ) : null;
  }
}

/** Fields that also take values which do not occur in the time range. */
const isOpen = (name: ListName) => name === 'user' || name === 'model';

function ListEditor({ name, ...props }: EditorProps & { readonly name: ListName }) {
  const { search, onChange } = props;
  const [typed, setTyped] = useState('');
  const { options, error } = useFilterOptions(name, props);
  const selected = valuesOf(search[name]);
  const set = (values: readonly string[]) => onChange({ [name]: joinValues(values) || undefined });
  const found = options?.filter(({ label, value }) =>
    `${label} ${value}`.toLowerCase().includes(typed.trim().toLowerCase()),
  );
  const isFixed = name === 'status' || name === 'source' || name === 'playground';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const value = isOpen(name) ? typed.trim() : found?.[0]?.value;
    if (value) set([...new Set([...selected, value])]);
    setTyped('');
  };
  return (
    <form onSubmit={submit}>
      {!isFixed && (
        <TextInput
          size="xs"
          data-autofocus
          aria-label={`Find ${listLabels[name].toLowerCase()}`}
          placeholder={isOpen(name) ? 'Find, or type and press Enter' : 'Find'}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      <fieldset className={classes.options} data-fixed={isFixed || undefined}>
        <legend className="visually-hidden">{listLabels[name]}</legend>
        {!found && <Loader size="xs" />}
        <FormError error={error} />
        {found?.length === 0 && !error && <span className="soft">No matches</span>}
        {found?.map(({ value, label, count }) => (
          <Checkbox
            key={value}
            size="xs"
            classNames={{ root: classes.option, labelWrapper: 'grow' }}
            label={
              <span className={classes.optionText}>
                <span title={label} dir="auto">
                  {label}
                </span>
                {count !== undefined && <span>{formatCount(count)}</span>}
              </span>
            }
            checked={selected.includes(value)}
            onChange={({ currentTarget }) =>
              set(
                currentTarget.checked
                  ? [...selected, value]
                  : selected.filter((one) => one !== value),
              )
            }
          />
        ))}
      </fieldset>
    </form>
  );
}

function TextEditor({
  name,
  search,
  onChange,
  onDone,
}: EditorProps & { readonly name: 'session' | 'tag' }) {
  const [typed, setTyped] = useState(search[name] ?? '');
  const label = name === 'session' ? 'Session' : 'Tag';
  return (
    <ApplyForm
      onApply={() => {
        onChange({ [name]: typed || undefined });
        onDone();
      }}
    >
      <TextInput
        size="xs"
        data-autofocus
        label={label}
        maxLength={name === 'session' ? 128 : 64}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </ApplyForm>
  );
}

type RangeNames = readonly ['latencyMsMin', 'latencyMsMax'] | readonly ['costUSDMin', 'costUSDMax'];

function RangeEditor(
  props: EditorProps & {
    readonly of: string;
    readonly unit: string;
    readonly names: RangeNames;
  },
) {
  const { search, onChange, onDone, of, unit, names } = props;
  const [typed, setTyped] = useState<readonly string[]>(
    names.map((name) => String(search[name] ?? '')),
  );
  const isMoney = unit === '$';
  return (
    <ApplyForm
      onApply={() => {
        const [min, max] = typed.map((text) => (text === '' ? undefined : text));
        const reversed = min !== undefined && max !== undefined && Number(min) > Number(max);
        const bounds = reversed ? [max, min] : [min, max];
        const values = bounds.map((text) => (isMoney || text === undefined ? text : Number(text)));
        onChange({ [names[0]]: values[0], [names[1]]: values[1] } as Partial<HistorySearch>);
        onDone();
      }}
    >
      <Group grow gap="xs">
        {(['Min', 'Max'] as const).map((bound, index) => (
          <TextInput
            key={bound}
            size="xs"
            data-autofocus={index === 0 || undefined}
            label={`${bound} ${of.toLowerCase()} (${unit})`}
            inputMode={isMoney ? 'decimal' : 'numeric'}
            pattern={isMoney ? '\\d{1,9}(\\.\\d{1,10})?' : '\\d{0,9}'}
            value={typed[index] ?? ''}
            onChange={({ currentTarget: { value } }) =>
              setTyped(typed.map((text, at) => (at === index ? value : text)))
            }
          />
        ))}
      </Group>
    </ApplyForm>
  );
}

function NamedEditor(
  props: EditorProps & {
    readonly of: string;
    readonly prefix: 'variables' | 'metadata';
    readonly example: readonly [string, string];
  },
) {
  const { onChange, onDone, of, prefix, example } = props;
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  return (
    <ApplyForm
      onApply={() => {
        if (name !== '') onChange({ [`${prefix}.${name}`]: value });
        onDone();
      }}
    >
      <Group grow gap="xs">
        <TextInput
          size="xs"
          data-autofocus
          label={`${of} name`}
          placeholder={example[0]}
          maxLength={64}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextInput
          size="xs"
          label={`${of} value`}
          placeholder={example[1]}
          maxLength={512}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
      </Group>
    </ApplyForm>
  );
}

function ApplyForm(props: { readonly onApply: () => void; readonly children: React.ReactNode }) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    props.onApply();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        {props.children}
        <Button type="submit" size="xs">
          Apply
        </Button>
      </Stack>
    </form>
  );
}
