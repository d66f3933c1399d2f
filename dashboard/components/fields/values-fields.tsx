import { Stack, Textarea } from '@mantine/core';
import type { ValueField } from '../../data/agents/value-fields.ts';
import { ownProperty } from '../../data/text/own-property.ts';
import { FileField } from './file-field.tsx';

/** One field for each declared input. */
export function ValuesFields(props: {
  readonly fields: readonly ValueField[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Record<string, string>) => void;
}) {
  return (
    <Stack gap="sm">
      {props.fields.map((field) => (
        <ValueInput
          key={field.name}
          field={field}
          value={ownProperty(props.values, field.name) ?? ''}
          onChange={(value) => props.onChange({ ...props.values, [field.name]: value })}
        />
      ))}
    </Stack>
  );
}

function ValueInput(props: {
  readonly field: ValueField;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { field, value, onChange } = props;
  const { name, file, required = false, defaultText } = field;
  const description = required
    ? undefined
    : defaultText === undefined
      ? 'Optional'
      : 'Has a default';
  const shared = { description, required, value };
  if (file) {
    const placeholder = defaultText?.startsWith('https:') ? defaultText : '';
    return (
      <FileField
        {...shared}
        name={name}
        kind={file}
        placeholder={placeholder}
        onChange={onChange}
      />
    );
  }
  return (
    <Textarea
      {...shared}
      label={<code>{name}</code>}
      placeholder={defaultText ?? ''}
      withAsterisk={false}
      autosize
      minRows={1}
      maxRows={12}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
