import { Button, Group } from '@mantine/core';
import { formatCount } from '../data/format.ts';
import { Icon } from './icon.tsx';
import classes from './pager.module.css';

interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  readonly hasMore: boolean;
}

/** Where in a list one is, and the way on and back. */
export function Pager(props: {
  readonly pagination: Pagination;
  /** Rows of this page. */
  readonly count: number;
  readonly onOffset: (offset: number) => void;
}) {
  const { limit, offset, total, hasMore } = props.pagination;
  if (total === 0) return null;
  const [first, last] = [Math.min(offset + 1, total), offset + props.count];
  return (
    <nav className={classes.pager} aria-label="Pages">
      <span>
        {formatCount(first)}–{formatCount(last)} of {formatCount(total)}
      </span>
      {(offset > 0 || hasMore) && (
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            disabled={offset === 0}
            onClick={() => props.onOffset(Math.max(0, offset - limit))}
            leftSection={<Icon name="left" size={12} />}
          >
            Previous
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={!hasMore}
            onClick={() => props.onOffset(offset + limit)}
            rightSection={<Icon name="right" size={12} />}
          >
            Next
          </Button>
        </Group>
      )}
    </nav>
  );
}
