/** The id of the resource that an event is about. */
export function subjectOf({ data }: { data: object }): string {
  const { id, conversation_id, user_id, cap } = data as Record<string, unknown>;
  return String(id ?? conversation_id ?? user_id ?? cap ?? '');
}
