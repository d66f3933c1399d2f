export function daysOf(days: number | null, otherwise: string): string {
  return days === null ? otherwise : days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}
