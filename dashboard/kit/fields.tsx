import {
  Checkbox,
  NativeSelect,
  PasswordInput,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { Fragment, isValidElement, type ReactElement } from 'react';
import { AgentsField } from '../components/fields/agents-field.tsx';
import { NumberField } from '../components/fields/number-field.tsx';
import { fieldError } from '../components/states/form-error.tsx';
import { parseJsonObject } from '../data/text/json-object.ts';

type Choice = string | { readonly value: string; readonly label: string };

/** One field of a form. A text by default. */
interface NamedField<Values> {
  /** Also its name in the API's errors. */
  readonly name: keyof Values & string;
  readonly label: string;
  readonly as?:
    | 'date'
    | 'email'
    | 'url'
    | 'password'
    | 'number'
    | 'check'
    | 'lines'
    | 'json'
    | 'tags'
    | 'agents';
  /** Makes it a selection. */
  readonly options?: readonly Choice[];
  readonly description?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly maxLength?: number;
  /** Of a number. */
  readonly min?: number;
  readonly max?: number;
  readonly decimals?: number;
  /** What an empty field means, other than an empty text. */
  readonly empty?: null | undefined | number;
  /** Other values that follow from a new one. */
  readonly also?: (value: never) => Partial<Values>;
  readonly inputMode?: 'decimal' | 'numeric';
  readonly autoComplete?: string;
}

/** A field, a row of them, or any other element. */
export type Field<Values> =
  | NamedField<Values>
  | readonly Field<Values>[]
  | ReactElement
  | false
  | null;

interface FieldsProps<Values> {
  readonly values: Values;
  readonly error: unknown;
  readonly onChange: (some: Partial<Values>) => void;
}

/** The fields of a form below each other; a list of fields is a row. */
export function Fields<Values>(
  props: FieldsProps<Values> & { readonly fields: readonly Field<Values>[] },
) {
  const { fields, ...others } = props;
  return fields.map((field, index) => {
    // Which fields there are may change, but not which one has this place.
    const key = keyOf(field) ?? index;
    if (isRow(field))
      return (
        <div key={key} className="field-row">
          <Fields fields={field} {...others} />
        </div>
      );
    if (!isNamed(field)) return <Fragment key={key}>{field}</Fragment>;
    return <NamedInput key={key} field={field} isFirst={index === 0} {...others} />;
  });
}

function keyOf<Values>(field: Field<Values>): string | null | undefined {
  if (isRow(field)) return field.map(keyOf).join();
  return isNamed(field) ? field.name : field ? field.key : null;
}

const isRow = <Values,>(field: Field<Values>): field is readonly Field<Values>[] =>
  Array.isArray(field);

const isNamed = <Values,>(field: Field<Values>): field is NamedField<Values> =>
  typeof field === 'object' && field !== null && !isRow(field) && !isValidElement(field);

function NamedInput<Values>(
  props: FieldsProps<Values> & { readonly field: NamedField<Values>; readonly isFirst: boolean },
) {
  const { field, values, isFirst } = props;
  const { name, as, options, min, max, empty, also, ...attributes } = field;
  const value: unknown = values[name];
  const set = (value: unknown) =>
    props.onChange({ [name]: value, ...also?.(value as never) } as Partial<Values>);
  const setText = (text: string) => set(text === '' && 'empty' in field ? empty : text);
  const input = {
    ...attributes,
    withAsterisk: false,
    error: fieldError(props.error, name),
    'data-autofocus': isFirst || undefined,
  };
  const text = {
    ...input,
    value: (value as string | null | undefined) ?? '',
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      setText(event.currentTarget.value),
  };
  if (options) return <NativeSelect {...text} data={[...options]} />;
  switch (as) {
    case 'check':
      return (
        <Checkbox
          {...attributes}
          checked={value === true}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
      );
    case 'number': {
      const { withAsterisk: _, ...others } = input;
      const limits = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
      const typed = (number: number | null) => set(number ?? empty ?? null);
      return (
        <NumberField {...others} {...limits} value={value as number | null} onChange={typed} />
      );
    }
    case 'agents':
      return (
        <AgentsField
          description={field.description ?? ''}
          chosen={(value as readonly string[] | null) ?? []}
          onChange={(ids) => set(ids.length === 0 ? null : ids)}
        />
      );
    case 'tags':
      return <TagsInput {...input} value={[...(value as readonly string[])]} onChange={set} />;
    case 'lines':
      return <Textarea {...text} autosize />;
    case 'json':
      return (
        <Textarea
          {...text}
          {...jsonInput}
          error={parseJsonObject(text.value) ? input.error : 'Not a JSON object.'}
        />
      );
    case 'password':
      return <PasswordInput {...text} />;
    default:
      return <TextInput type={as ?? 'text'} {...text} />;
  }
}

const jsonInput = {
  ...{ autosize: true, minRows: 3, maxRows: 18, spellCheck: false },
  styles: { input: { fontFamily: 'var(--mono)', fontSize: '0.75rem' } },
};
