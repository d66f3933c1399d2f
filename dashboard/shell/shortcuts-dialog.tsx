import { Checkbox, Kbd, Modal } from '@mantine/core';
import { useEffect, useState } from 'react';
import { commandKey } from './command-key.ts';
import { places } from './navigation-items.ts';
import classes from './shortcuts-dialog.module.css';
import { setSingleKeys, singleKeysOn } from './single-key-shortcuts.ts';

const shortcuts: readonly (readonly [string, readonly string[]])[] = [
  ['Open the command palette', [commandKey, 'K']],
  ['Search the list', ['/']],
  ...places.map(({ label, key }) => [`Go to ${label}`, ['g', key]] as const),
  ['Run', [commandKey, 'Enter']],
  ['Close dialog', ['Esc']],
  ['Show keyboard shortcuts', ['?']],
];

export default function ShortcutSheet({ asked }: { readonly asked: number }) {
  const [opened, setOpened] = useState(true);
  const [single, setSingle] = useState(singleKeysOn);
  const choose = (on: boolean) => {
    setSingleKeys(on);
    setSingle(on);
  };
  // Each request reopens it.
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
      <Checkbox
        mt="md"
        label="Enable single-key shortcuts"
        checked={single}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
    </Modal>
  );
}
