import { Radio, Stack } from '@mantine/core';
import type { Agent } from '../../../src/client/index.ts';

export type Visibility = Agent['visibility'];

/** Who sees an agent or a prompt. */
export function VisibilityField(props: {
  readonly value: Visibility;
  readonly onChange: (visibility: Visibility) => void;
  readonly disabled?: boolean;
}) {
  const { value, onChange, disabled = false } = props;
  return (
    <Radio.Group
      label="Visibility"
      value={value}
      onChange={(visibility) => onChange(visibility as Visibility)}
    >
      <Stack gap="xs" mt="xs">
        <Radio
          value="private"
          label="Private: only the creator and workspace owners"
          disabled={disabled}
        />
        <Radio value="public" label="Public: all workspace members" disabled={disabled} />
      </Stack>
    </Radio.Group>
  );
}
