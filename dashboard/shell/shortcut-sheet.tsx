import { Kbd, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import { commandKey } from './command-key.ts';
import { places } from './places.ts';
import classes from './shortcut-sheet.module.css';

const shortcuts: readonly (readonly [string, readonly string[]])[] = [
  ['Search and go anywhere', [commandKey, 'K']],
  ['Search in the list', ['/']],
  ...places.map(({ label, key }) => [`Go to ${label}`, ['g', key]] as const),
  ['Close what is open', ['Esc']],
  ['Show this list', ['?']],
];

export default function ShortcutSheet({ asked }: { readonly asked: number }) {
  const [opened, setOpened] = useState(true);
  // It opens because it was asked for again.
  useEffect(() => setOpened(true), [asked]);
  return (
    <Modal opened={opened} onClose={() => setOpened(false)} title="Keyboard shortcuts" size="sm">
      <dl className={classes.list}>
        {shortcuts.map(([what, keys]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
