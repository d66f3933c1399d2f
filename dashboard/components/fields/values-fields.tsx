import { Stack, Textarea } from '@mantine/core';
import type { ValueField } from '../../data/agents/value-fields.ts';
import { ownProperty } from '../../data/text/own-property.ts';

/** One text field for each declared input. */
export function ValuesFields(props: {
  readonly fields: readonly ValueField[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Record<string, string>) => void;
}) {
  return (
    <Stack gap="sm">
      {props.fields.map(({ name, required, defaultText }) => (
        <Textarea
          key={name}
          label={<code>{name}</code>}
          description={
            required ? undefined : defaultText === undefined ? 'Optional' : 'Has a default'
          }
          placeholder={defaultText ?? ''}
          required={required ?? false}
          withAsterisk={false}
          autosize
          minRows={1}
          maxRows={12}
          value={ownProperty(props.values, name) ?? ''}
          onChange={({ currentTarget }) =>
            props.onChange({ ...props.values, [name]: currentTarget.value })
          }
        />
      ))}
    </Stack>
  );
}
