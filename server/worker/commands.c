/*
 * See commands.h.
 */
#include "worker/commands.h"

#include "base/check.h"
#include "worker/results.h"

bool commands_take(struct commands *commands)
{
    struct control_command command;
    while (commands->count < COMMANDS_OPEN_MAX &&
           control_next_command(commands->control, &command)) {
        if (command.kind == MESSAGE_READ_RESULTS)
            results_send(commands->query, commands->control, &command);
        else
            commands->open[commands->count++] = command;
    }
    return commands->count > 0;
}

void commands_answer(struct commands *commands, bool ran)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < commands->count; i++) {
        const struct control_command *command = &commands->open[i];
        bool done = command->kind == MESSAGE_TRIGGER || !ran;
        if (done)
            control_reply(commands->control, command->request_id, NULL);
        else
            commands->open[left++] = *command;
    }
    commands->count = left;
}

bool commands_open(const struct commands *commands)
{
    return commands->count > 0;
}

void commands_end(struct commands *commands)
{
    struct error err = ERROR_INIT;
    error_raise(&err, STATUS_OPERATION_CANCELLED, NULL);
    for (uint32_t i = 0; i < commands->count; i++)
        control_reply(commands->control, commands->open[i].request_id, &err);
    commands->count = 0;
}
