import { Button, Menu } from '@mantine/core';
import { Icon } from '../../parts/icon.tsx';
import type { TimeStyle, useColumns } from './columns.tsx';

type Choice = Omit<ReturnType<typeof useColumns>, 'shown'>;

/** Which columns stand there, and how their times are told. */
export function ColumnMenu({ offered, chosen, choose, times, chooseTimes }: Choice) {
  const flip = (key: string) =>
    choose(chosen.includes(key) ? chosen.filter((one) => one !== key) : [...chosen, key]);
  return (
    <Menu closeOnItemClick={false} width={200}>
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<Icon name="down" size={12} />}>
          Columns
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Columns</Menu.Label>
        {offered.map(({ key, header }) => (
          <Menu.Item
            key={key}
            role="menuitemcheckbox"
            aria-checked={chosen.includes(key)}
            rightSection={chosen.includes(key) && <Icon name="check" size={14} />}
            onClick={() => flip(key)}
          >
            {header}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>Times</Menu.Label>
        {timeStyles.map(({ style, label }) => (
          <Menu.Item
            key={style}
            role="menuitemradio"
            aria-checked={style === times}
            rightSection={style === times && <Icon name="check" size={14} />}
            onClick={() => chooseTimes(style)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const timeStyles: readonly { readonly style: TimeStyle; readonly label: string }[] = [
  { style: 'relative', label: 'How long ago' },
  { style: 'absolute', label: 'Date and time' },
];
