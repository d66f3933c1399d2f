import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { exportHref, readExport } from '../../data/executions.ts';
import { useMe } from '../../data/me.ts';
import { FormProblem } from '../../parts/form-problem.tsx';
import { Icon } from '../../parts/icon.tsx';

interface Exported {
  readonly agentId: string | undefined;
  readonly filters: ExecutionFilters;
}

/**
 * The whole history that matches, as a file. For someone in one workspace it is a plain download of the browser, however
 * long it is. A link cannot say which of several is meant, so for the others the page reads it.
 */
export function ExportMenu({ agentId, filters }: Exported) {
  const me = useMe();
  const fetched = useMutation({
    mutationFn: async (format: Format) =>
      save(await readExport(agentId, filters, format), `executions.${format}`),
  });
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            loading={fetched.isPending}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>All that match, prompts included</Menu.Label>
          {formats.map(({ format, label }) =>
            me.workspaces.length < 2 ? (
              <Menu.Item
                key={format}
                component="a"
                href={exportHref(agentId, filters, format)}
                download={`executions.${format}`}
              >
                {label}
              </Menu.Item>
            ) : (
              <Menu.Item key={format} onClick={() => fetched.mutate(format)}>
                {label}
              </Menu.Item>
            ),
          )}
        </Menu.Dropdown>
      </Menu>
      <FormProblem error={fetched.error} />
    </>
  );
}

const formats = [
  { format: 'jsonl', label: 'JSON lines' },
  { format: 'csv', label: 'CSV, for spreadsheets' },
] as const;
type Format = (typeof formats)[number]['format'];

function save(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  // The download has begun by then; until it has, the address must lead somewhere.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
