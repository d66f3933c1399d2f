import { Button, Checkbox, Popover, Radio, Stack } from '@mantine/core';
import { Icon } from '../../../components/icon.tsx';
import type { TimeStyle, useColumnChoice } from './columns.tsx';

type Choice = Omit<ReturnType<typeof useColumnChoice>, 'wanted' | 'showsBodies'>;

/** Chooses the visible columns and the time format. */
export function ColumnMenu({ offered, chosen, choose, times, chooseTimes }: Choice) {
  return (
    <Popover position="bottom-end" width={200} trapFocus returnFocus withinPortal={false}>
      <Popover.Target>
        <Button variant="default" size="xs" rightSection={<Icon name="down" size={12} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Stack gap="md">
          <Checkbox.Group label="Columns" value={chosen} onChange={choose}>
            <Stack gap={6} mt={6}>
              {offered.map(({ key, header }) => (
                <Checkbox key={key} size="xs" value={key} label={header} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Radio.Group
            label="Times"
            value={times}
            onChange={(style) => chooseTimes(style as TimeStyle)}
          >
            <Stack gap={6} mt={6}>
              <Radio size="xs" value="relative" label="Relative" />
              <Radio size="xs" value="absolute" label="Absolute" />
            </Stack>
          </Radio.Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
