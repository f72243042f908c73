"""Lives that a host may lead with a plugin, with pypjrt. Prints what came of it; knows nothing of Precast.

    lives.py LIBRARY threads|clients|fork|exit
"""

import array
import os
import sys
import threading

import pypjrt

PROGRAM = """
module @life {
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
F32 = 11


def doubled(client, executable):
    with client.devices() as devices:
        given = client.buffer_from_host(array.array("f", [1, 2, 3, 4]), F32, [4], devices[0])
        (out,) = executable(given)
        result = array.array("f", [0] * 4)
        out.to_host(result)
        return list(result)


def threads(plugin):
    """Eight threads compile one program with one client."""
    results = [None] * 8
    start = threading.Barrier(len(results))
    with pypjrt.Client.create(plugin) as client:
        def live(number):
            start.wait()
            with client.compile(PROGRAM) as executable:
                results[number] = doubled(client, executable)

        running = [threading.Thread(target=live, args=[number]) for number in range(len(results))]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return results


def clients(plugin):
    """Two clients at once, and the first goes first."""
    first, second = pypjrt.Client.create(plugin), pypjrt.Client.create(plugin)
    executables = [client.compile(PROGRAM) for client in (first, second)]
    results = [doubled(first, executables[0])]
    executables[0].close()
    first.close()
    results.append(doubled(second, executables[1]))
    executables[1].close()
    second.close()
    return results


def fork(plugin):
    """The library is open, and parent and child each go on with it."""
    child = os.fork()
    with pypjrt.Client.create(plugin) as client, client.compile(PROGRAM) as executable:
        results = [doubled(client, executable)]
    if child == 0:
        sys.exit(0 if results == [[2, 4, 6, 8]] else 1)
    return results + [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]


KEPT = []


def exit(plugin):  # noqa: A001, the name of the life
    """The interpreter ends with everything alive."""
    client = pypjrt.Client.create(plugin)
    executable = client.compile(PROGRAM)
    KEPT.extend([client, executable])
    return [doubled(client, executable)]


print(globals()[sys.argv[2]](pypjrt.Plugin(sys.argv[1])))
