/** Routes that answer 501 for now. A line may go, none may come. */
export const unhandledRoutes: readonly string[] = ['sessions.voice'];
